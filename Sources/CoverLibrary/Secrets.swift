/// Keeps what grants access out of what people and programs are told: URLs carry it in their user part, and in parameters
/// whose names are known for it. Logs are passed on and kept; a URL with a token in it is as good as the token.
package enum Secrets {
    /// Stands for what was left out.
    private static let mark = "[hidden]"

    /// Parameters of this name hold one, in any case, anything but letters and digits left out: those of OAuth (RFC 6749, RFC 6750 section 2.3),
    /// of signed URLs of the large stores, and those in wide use besides.
    private static let names: Set<String> = [
        "token", "key", "apikey", "appkey", "accesskey", "auth", "authorization", "secret", "password", "passwd",
        "passwort",
        "pass", "pwd", "sig", "signature", "sign", "hmac", "jwt", "session", "sessionid", "sid", "credential", "policy",
        "keypairid", "accesskeyid", "awsaccesskeyid", "privatekey", "bearer", "jsessionid", "phpsessid", "hdnea",
        "hdnts", "googleaccessid", "xamzcredential", "xgoogcredential",
    ]
    private static let endings = ["token", "secret", "password", "signature", "apikey"]

    /// `text` with every such part hidden, wherever in it there is one: in a URL, or in one that a parameter of another holds,
    /// however often it is percent-encoded there. A text without any comes back as it is.
    package static func hidden(in text: String) -> String {
        let telling: Set<UInt8> = [UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "%")]
        guard text.utf8.contains(where: telling.contains) else { return text }
        return hiding(parameters, in: hiding(users, in: text))
    }

    /// A character as it is meant, and where it stands.
    private struct Unit {
        var byte: UInt8
        /// How often it is percent-encoded: what is deeper than a URL's own `?` is in one of its values.
        var depth = 0
        var place: Range<Int>

        func isOne(of bytes: StaticString, upTo depth: Int = .max) -> Bool {
            self.depth <= depth
                && UnsafeRawBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount).contains(byte)
        }
    }

    private static func hiding(_ secrets: ([Unit]) -> [Range<Int>], in text: String) -> String {
        let bytes = Array(text.utf8)
        let units = units(bytes)
        let found = secrets(units).filter { !$0.isEmpty }
        if found.isEmpty { return text }
        var (result, kept): ([UInt8], Int) = ([], 0)
        for secret in found {
            result += bytes[kept..<units[secret.lowerBound].place.lowerBound] + Array(mark.utf8)
            kept = units[secret.upperBound - 1].place.upperBound
        }
        return String(decoding: result + bytes[kept...], as: UTF8.self)
    }

    private static func units(_ bytes: [UInt8]) -> [Unit] {
        func digit(_ index: Int) -> UInt8? {
            index < bytes.count ? Character(UnicodeScalar(bytes[index])).hexDigitValue.map { UInt8($0) } : nil
        }
        var (units, index): ([Unit], Int) = ([], 0)
        while index < bytes.count {
            var unit = Unit(byte: bytes[index], place: index..<(index + 1))
            // `%2525` and so on is a `%` whose own `%` is encoded.
            while unit.byte == UInt8(ascii: "%"), let high = digit(unit.place.upperBound),
                let low = digit(unit.place.upperBound + 1)
            {
                unit = Unit(byte: high << 4 | low, depth: unit.depth + 1, place: index..<(unit.place.upperBound + 2))
            }
            units.append(unit)
            index = unit.place.upperBound
        }
        return units
    }

    /// `https://user:password@host/` is `https://[hidden]@host/`.
    private static func users(_ units: [Unit]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 2
        while index < units.count {
            defer { index += 1 }
            guard units[index].isOne(of: "/"), units[index - 1].isOne(of: "/"), units[index - 2].isOne(of: ":") else {
                continue
            }
            let (start, depth) = (index + 1, units[index].depth)
            let end = units[start...].firstIndex {
                $0.isOne(of: "/?# \t\"'<>", upTo: depth) || $0.isOne(of: "&;", upTo: depth - 1)
            }
            if let at = units[start..<(end ?? units.count)].lastIndex(where: { $0.isOne(of: "@", upTo: depth) }) {
                found.append(start..<at)
                index = at
            }
        }
        return found
    }

    /// `?token=abc&size=1` is `?token=[hidden]&size=1`.
    private static func parameters(_ units: [Unit]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while let mark = units[index...].firstIndex(where: { $0.isOne(of: "?&#;") }) {
            let name = units[(mark + 1)...].prefix { !$0.isOne(of: "=?&#; \t") }
            index = name.endIndex
            guard index < units.count, units[index].isOne(of: "="), isSecret(name.map(\.byte)) else { continue }
            let depth = units[mark].depth
            var value = units[(index + 1)...].prefix { !$0.isOne(of: "&#; \t\"'<>", upTo: depth) }
            // What ends a sentence, or a bracket around the URL, is not the value's.
            while value.last?.isOne(of: "):,.", upTo: 0) == true { value.removeLast() }
            found.append(value.startIndex..<value.endIndex)
            index = value.endIndex
        }
        return found
    }

    private static func isSecret(_ name: [UInt8]) -> Bool {
        let plain = String(decoding: name, as: UTF8.self).lowercased().filter { $0.isLetter || $0.isNumber }
        return names.contains(plain) || endings.contains { plain.hasSuffix($0) }
    }
}
