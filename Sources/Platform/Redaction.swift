/// Redacts credentials from messages, logs and reports. URLs carry them in their user information and in parameters with known
/// names.
package enum Redaction {
    /// Replaces a credential.
    private static let mark = "[hidden]"

    /// Names of parameters that hold credentials, in lower case, letters and digits only: those of OAuth (RFC 6749, RFC 6750 §2.3),
    /// of signed URLs of large object stores, and others in wide use.
    private static let names: Set<String> = [
        "token", "key", "apikey", "appkey", "accesskey", "auth", "authorization", "secret", "password", "passwd",
        "passwort", "pass", "pwd", "sig", "signature", "sign", "hmac", "jwt", "session", "sessionid", "sid",
        "credential", "policy",
        "keypairid", "accesskeyid", "awsaccesskeyid", "privatekey", "bearer", "jsessionid", "phpsessid", "hdnea",
        "hdnts", "googleaccessid", "xamzcredential", "xgoogcredential",
    ]
    private static let endings = ["token", "secret", "password", "signature", "apikey"]

    /// Replaces every credential in a text, also in a URL that a parameter of another URL holds, however often it is
    /// percent-encoded there.
    package static func redact(_ text: String) -> String {
        let indicators: Set<UInt8> = [UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "%")]
        guard text.utf8.contains(where: indicators.contains) else { return text }
        return replacing(parameters, in: replacing(users, in: text))
    }

    /// A text that is no usable URL, for a message: one that may hold a password is not repeated.
    package static func displayable(_ text: String) -> String { text.contains("@") ? "(a URL with credentials)" : text }

    /// A URL without user name and password.
    package static func removingUserInfo(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start]) + url[url.index(after: at)...]
    }

    /// A decoded character and its position in the text.
    private struct Unit {
        var byte: UInt8
        /// How often it is percent-encoded. A character deeper than a URL's own `?` is part of a value.
        var depth = 0
        var range: Range<Int>

        func isOne(of bytes: StaticString, upTo depth: Int = .max) -> Bool {
            self.depth <= depth
                && UnsafeRawBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount).contains(byte)
        }
    }

    private static func replacing(_ credentials: ([Unit]) -> [Range<Int>], in text: String) -> String {
        let bytes = Array(text.utf8)
        let units = units(bytes)
        let found = credentials(units).filter { !$0.isEmpty }
        if found.isEmpty { return text }
        var (result, kept): ([UInt8], Int) = ([], 0)
        for range in found {
            result += bytes[kept..<units[range.lowerBound].range.lowerBound] + Array(mark.utf8)
            kept = units[range.upperBound - 1].range.upperBound
        }
        return String(decoding: result + bytes[kept...], as: UTF8.self)
    }

    private static func units(_ bytes: [UInt8]) -> [Unit] {
        func digit(_ index: Int) -> UInt8? {
            index < bytes.count ? Character(UnicodeScalar(bytes[index])).hexDigitValue.map { UInt8($0) } : nil
        }
        var (units, index): ([Unit], Int) = ([], 0)
        while index < bytes.count {
            var unit = Unit(byte: bytes[index], range: index..<(index + 1))
            // In `%2525` the `%` is itself encoded.
            while unit.byte == UInt8(ascii: "%"), let high = digit(unit.range.upperBound),
                let low = digit(unit.range.upperBound + 1)
            {
                unit = Unit(byte: high << 4 | low, depth: unit.depth + 1, range: index..<(unit.range.upperBound + 2))
            }
            units.append(unit)
            index = unit.range.upperBound
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
            guard index < units.count, units[index].isOne(of: "="), isCredential(name.map(\.byte)) else { continue }
            let depth = units[mark].depth
            var value = units[(index + 1)...].prefix { !$0.isOne(of: "&#; \t\"'<>", upTo: depth) }
            // Punctuation after the URL does not belong to the value.
            while value.last?.isOne(of: "):,.", upTo: 0) == true { value.removeLast() }
            found.append(value.startIndex..<value.endIndex)
            index = value.endIndex
        }
        return found
    }

    private static func isCredential(_ name: [UInt8]) -> Bool {
        let plain = String(decoding: name, as: UTF8.self).lowercased().filter { $0.isLetter || $0.isNumber }
        return names.contains(plain) || endings.contains { plain.hasSuffix($0) }
    }
}
