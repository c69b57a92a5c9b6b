/// Redacts credentials from text that leaves the process: messages, logs, reports, responses. URLs carry them in their user
/// information, in parameters whose names say so, and in values that look like generated tokens.
package enum Redaction {
    /// Replaces a credential.
    private static let mark = "[hidden]"

    /// Names of parameters that hold credentials, in lower case, letters and digits only: those of OAuth (RFC 6749, RFC 6750 §2.3),
    /// of signed URLs of large object stores, and others in wide use.
    private static let names: Set<String> = [
        "key", "appkey", "auth", "pass", "pw", "pwd", "pin", "otp", "sig", "sign", "hmac", "hash", "md5", "jwt", "sid",
        "policy", "keypairid", "bearer", "phpsessid", "hdnea", "hdnts", "googleaccessid", "ticket", "nonce", "salt",
        "cookie", "code", "rlkey", "hm", "oh",
    ]
    /// Parts of such names.
    private static let parts = [
        "token", "secret", "passw", "passphrase", "passcode", "signature", "apikey", "accesskey", "authkey",
        "privatekey",
        "credential", "authorization", "session",
    ]
    /// Short names for a password (`p`), a token (`t`), a salt (`s`) and a key (`k`), as in the Subsonic API. They are also in use
    /// for sizes, times and pages, so a short number is no credential.
    private static let shortNames: Set<String> = ["p", "t", "s", "k"]

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
            index < bytes.count ? Hexadecimal.value(bytes[index]) : nil
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

    /// `https://user:password@host/` is `https://[hidden]@host/`, and `user:password@host:8080` is `[hidden]@host:8080`.
    private static func users(_ units: [Unit]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < units.count {
            let isURL =
                index > 2 && units[index - 1].isOne(of: "/\\") && units[index - 2].isOne(of: "/\\")
                && units[index - 3].isOne(of: ":")
            let isWord = index == 0 || units[index - 1].isOne(of: " \t\"'<>(")
            if isURL || isWord, let at = endOfUser(units[index...], isURL: isURL, isURL ? units[index - 1].depth : 0) {
                found.append(index..<at)
                index = at
            }
            index += 1
        }
        return found
    }

    /// The position of the `@` after user name and password.
    /// - Parameters:
    ///   - isURL: a scheme precedes. Otherwise it takes a colon to tell a password from a mail address.
    ///   - depth: that of the delimiters.
    private static func endOfUser(_ units: ArraySlice<Unit>, isURL: Bool, _ depth: Int) -> Int? {
        var authority = units.prefix {
            !$0.isOne(of: "/\\?# \t\"'<>", upTo: depth) && !$0.isOne(of: "&;", upTo: depth - 1)
        }
        let colon = authority.firstIndex { $0.isOne(of: ":", upTo: depth) }
        // A password may contain a slash: what follows the colon is no port then.
        if isURL, let colon, authority.first?.isOne(of: "[") == false,
            !authority[(colon + 1)...].allSatisfy({ isDigit($0.byte) })
        {
            authority = units.prefix { !$0.isOne(of: " \t\"'<>", upTo: depth) }
        }
        guard let at = authority.lastIndex(where: { $0.isOne(of: "@", upTo: depth) }) else { return nil }
        return isURL || colon.map { $0 < at } == true ? at : nil
    }

    /// `?token=abc&size=1` is `?token=[hidden]&size=1`.
    private static func parameters(_ units: [Unit]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while let mark = units[index...].firstIndex(where: { $0.isOne(of: "?&#;") }) {
            let name = units[(mark + 1)...].prefix { !$0.isOne(of: "=?&#; \t") }
            index = name.endIndex
            guard index < units.count, units[index].isOne(of: "=") else { continue }
            let depth = units[mark].depth
            var value = units[(index + 1)...].prefix { !$0.isOne(of: "&#; \t\"'<>", upTo: depth) }
            // Punctuation after the URL does not belong to the value.
            while value.last?.isOne(of: "):,.", upTo: 0) == true { value.removeLast() }
            guard isCredential(name.map(\.byte), value.map(\.byte)) else { continue }
            found.append(value.startIndex..<value.endIndex)
            index = value.endIndex
        }
        return found
    }

    private static func isCredential(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        let name = String(decoding: name, as: UTF8.self)
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        if names.contains(plain) || parts.contains(where: plain.contains) { return true }
        if ["_key", "-key", "Key"].contains(where: name.hasSuffix) { return true }
        if shortNames.contains(plain) { return value.count > 4 || !value.allSatisfy(isDigit) }
        return isGenerated(value)
    }

    /// Whether a value looks like a generated token: at least 20 letters and digits, mixed, without the punctuation of names and
    /// addresses. A UUID identifies a thing.
    private static func isGenerated(_ value: [UInt8]) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        guard value.count >= 20, value.contains(where: isDigit), value.contains(where: isLetter),
            value.allSatisfy({ isDigit($0) || isLetter($0) || "-_+/=~".utf8.contains($0) })
        else { return false }
        return value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(\.count) != [
            8, 4, 4, 4, 12,
        ]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
