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
        "privatekey", "credential", "authorization", "session",
    ]
    /// Short names for a password (`p`), a token (`t`), a salt (`s`) and a key (`k`), as in the Subsonic API. They are also in use
    /// for sizes, times and pages, so a short number is no credential.
    private static let shortNames: Set<String> = ["p", "t", "s", "k"]

    /// Replaces every credential in a text, also in a URL that a parameter of another URL holds, percent-encoded once. The time grows
    /// with the length of the text.
    package static func redact(_ text: String) -> String {
        let indicators: Set<UInt8> = [UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "%")]
        guard text.utf8.contains(where: indicators.contains) else { return text }
        let bytes = Array(text.utf8)
        var scan = Scan(bytes)
        var (result, kept, index): ([UInt8], Int, Int) = ([], 0, 0)
        while index < scan.units.count {
            guard let found = scan.user(index) ?? scan.parameter(index) else {
                index += 1
                continue
            }
            index = found.upperBound
            result += bytes[kept..<scan.units[found.lowerBound].range.lowerBound] + Array(mark.utf8)
            kept = scan.units[index - 1].range.upperBound
        }
        return String(decoding: result + bytes[kept...], as: UTF8.self)
    }

    /// A text that is no usable URL, for a message: one that may hold a password is not repeated.
    package static func displayable(_ text: String) -> String {
        text.contains("@") ? "(a URL with credentials)" : text.shortened(to: 300)
    }

    /// A character and its position in the text.
    private struct Unit {
        var byte: UInt8
        /// 1 if it is percent-encoded: part of a value, or of a URL in one.
        var depth = 0
        var range: Range<Int>

        func isOne(of bytes: StaticString, upTo depth: Int = 1) -> Bool {
            self.depth <= depth
                && UnsafeRawBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount).contains(byte)
        }

        var isDigit: Bool { (0x30...0x39).contains(byte) }
        var isLetter: Bool { (0x61...0x7A).contains(byte | 0x20) }
        var isOfWord: Bool { isDigit || isLetter || isOne(of: "-_+/=~") }
        var isPunctuation: Bool { isOne(of: "):,.", upTo: 0) }
    }

    /// Finds credentials.
    private struct Scan {
        var units: [Unit] = []
        /// The word that was searched last, for each depth: no text is searched again for each URL in it.
        private var words = [(end: -1, lastAt: -1), (end: -1, lastAt: -1)]

        init(_ bytes: [UInt8]) {
            func digit(_ index: Int) -> UInt8? { index < bytes.count ? Hexadecimal.value(bytes[index]) : nil }
            units.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                var unit = Unit(byte: bytes[index], range: index..<(index + 1))
                if unit.byte == UInt8(ascii: "%"), let high = digit(index + 1), let low = digit(index + 2) {
                    unit = Unit(byte: high << 4 | low, depth: 1, range: index..<(index + 3))
                }
                units.append(unit)
                index = unit.range.upperBound
            }
        }

        /// The first unit from `start` on that is not as `condition` says.
        private func end(from start: Int, while condition: (Unit) -> Bool) -> Int {
            units[start...].firstIndex { !condition($0) } ?? units.count
        }

        /// User name and password that begin at `index`: `https://user:password@host/` is `https://[hidden]@host/`, and
        /// `user:password@host:8080` is `[hidden]@host:8080`. Without a scheme, it takes a colon to tell a password from a mail address.
        mutating func user(_ index: Int) -> Range<Int>? {
            let isURL =
                index > 2 && units[index - 1].isOne(of: "/\\") && units[index - 2].isOne(of: "/\\")
                && units[index - 3].isOne(of: ":")
            guard isURL || index == 0 || units[index - 1].isOne(of: " \t\"'<>(", upTo: 0) else { return nil }
            let depth = isURL ? units[index - 1].depth : 0
            let end = end(from: index) {
                !$0.isOne(of: "/\\?# \t\"'<>", upTo: depth) && !$0.isOne(of: "&;", upTo: depth - 1)
                    && (isURL || !$0.isOne(of: "(", upTo: 0))
            }
            let colon = units[index..<end].firstIndex { $0.isOne(of: ":", upTo: depth) }
            var at = units[index..<end].lastIndex { $0.isOne(of: "@", upTo: depth) }
            // A password may contain a slash: what follows the colon is no port then.
            if isURL, let colon, !units[index].isOne(of: "["), !units[(colon + 1)..<end].allSatisfy(\.isDigit) {
                at = lastAt(from: index, depth)
            }
            guard let at, at > index, isURL || colon.map({ $0 < at }) == true else { return nil }
            return index..<at
        }

        /// The last `@` of the word from here on.
        private mutating func lastAt(from index: Int, _ depth: Int) -> Int? {
            if words[depth].end < index {
                let end = end(from: index) { !$0.isOne(of: " \t\"'<>", upTo: depth) }
                words[depth] = (end, units[index..<end].lastIndex { $0.isOne(of: "@", upTo: depth) } ?? -1)
            }
            return words[depth].lastAt >= index ? words[depth].lastAt : nil
        }

        /// The value of the parameter that begins at `index`, if it is a credential: `?token=abc&size=1` is `?token=[hidden]&size=1`.
        func parameter(_ index: Int) -> Range<Int>? {
            guard units[index].isOne(of: "?&#;") else { return nil }
            let name = units[(index + 1)...].prefix { !$0.isOne(of: "=?&#; \t") }
            guard name.endIndex < units.count, units[name.endIndex].isOne(of: "=") else { return nil }
            let (start, depth) = (name.endIndex + 1, units[index].depth)
            func isOfValue(_ unit: Unit) -> Bool { !unit.isOne(of: "&#; \t\"'<>", upTo: depth) }
            // Neither search goes beyond the next parameter, so no part of the text is searched for each one before it.
            let word = units[start...].prefix(while: \.isOfWord)
            let next = end(from: word.endIndex, while: \.isPunctuation)
            let isWord = next == units.count || !isOfValue(units[next])
            guard Redaction.isCredential(name.map(\.byte), isWord ? word : nil) else { return nil }
            var end = end(from: start, while: isOfValue)
            // Punctuation after the URL does not belong to the value.
            while end > start, units[end - 1].isPunctuation { end -= 1 }
            return start < end ? start..<end : nil
        }
    }

    /// - Parameter word: the parameter's value; nil if it has other characters than those of a word.
    private static func isCredential(_ name: [UInt8], _ word: ArraySlice<Unit>?) -> Bool {
        let name = String(decoding: name, as: UTF8.self)
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        if names.contains(plain) || parts.contains(where: plain.contains) { return true }
        if ["_key", "-key", "Key"].contains(where: name.hasSuffix) { return true }
        if shortNames.contains(plain) { return word.map { $0.count > 4 || !$0.allSatisfy(\.isDigit) } ?? true }
        return word.map(isGenerated) ?? false
    }

    /// Whether a value looks like a generated token: at least 20 letters and digits, mixed, without the punctuation of names and
    /// addresses. A UUID identifies a thing.
    private static func isGenerated(_ value: ArraySlice<Unit>) -> Bool {
        guard value.count >= 20, value.contains(where: \.isDigit), value.contains(where: \.isLetter) else {
            return false
        }
        let parts = value.split(omittingEmptySubsequences: false) { $0.byte == UInt8(ascii: "-") }
        return parts.map(\.count) != [8, 4, 4, 4, 12]
    }
}

extension String {
    /// The text with its middle left out if it has more than `limit` bytes of UTF-8: for messages, in which a server's text has no length.
    package func shortened(to limit: Int) -> String {
        if utf8.count <= limit { return self }
        let end = limit / 3
        return String(decoding: utf8.prefix(limit - end), as: UTF8.self) + "…"
            + String(decoding: utf8.suffix(end), as: UTF8.self)
    }
}
