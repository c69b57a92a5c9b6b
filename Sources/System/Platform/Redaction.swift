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
    /// percent-encoded there. The time grows with the length of the text.
    package static func redact(_ text: String) -> String {
        let indicators: Set<UInt8> = [UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "%")]
        guard text.utf8.contains(where: indicators.contains) else { return text }
        let bytes = Array(text.utf8)
        var scan = Scan(bytes)
        var (result, kept): ([UInt8], Int) = ([], 0)
        while let range = scan.next() {
            result += bytes[kept..<range.lowerBound] + Array(mark.utf8)
            kept = range.upperBound
        }
        return kept == 0 ? text : String(decoding: result + bytes[kept...], as: UTF8.self)
    }

    /// A text that is no usable URL, for a message: one that may hold a password is not repeated.
    package static func displayable(_ text: String) -> String {
        text.contains("@") ? "(a URL with credentials)" : text.shortened(to: 300)
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

    /// Finds credentials, one after the other. What is searched ahead, to the end of a value or of a word, is remembered for each depth, so
    /// that no part of the text is searched again for each of its parameters.
    private struct Scan {
        private let units: [Unit]
        private var index = 0
        private var valueEnds: [Int: Int] = [:]
        private var words: [Int: (end: Int, lastAt: Int)] = [:]

        init(_ bytes: [UInt8]) {
            func digit(_ index: Int) -> UInt8? { index < bytes.count ? Hexadecimal.value(bytes[index]) : nil }
            var (units, index): ([Unit], Int) = ([], 0)
            units.reserveCapacity(bytes.count)
            while index < bytes.count {
                var unit = Unit(byte: bytes[index], range: index..<(index + 1))
                // In `%2525` the `%` is itself encoded.
                while unit.byte == UInt8(ascii: "%"), let high = digit(unit.range.upperBound),
                    let low = digit(unit.range.upperBound + 1)
                {
                    let end = unit.range.upperBound + 2
                    unit = Unit(byte: high << 4 | low, depth: unit.depth + 1, range: index..<end)
                }
                units.append(unit)
                index = unit.range.upperBound
            }
            self.units = units
        }

        /// The bytes of the next credential.
        mutating func next() -> Range<Int>? {
            while index < units.count {
                guard let found = user() ?? parameter() else {
                    index += 1
                    continue
                }
                index = found.upperBound
                return units[found.lowerBound].range.lowerBound..<units[found.upperBound - 1].range.upperBound
            }
            return nil
        }

        /// User name and password that begin here: `https://user:password@host/` is `https://[hidden]@host/`, and
        /// `user:password@host:8080` is `[hidden]@host:8080`. Without a scheme, it takes a colon to tell a password from a mail address.
        private mutating func user() -> Range<Int>? {
            let isURL =
                index > 2 && units[index - 1].isOne(of: "/\\") && units[index - 2].isOne(of: "/\\")
                && units[index - 3].isOne(of: ":")
            guard isURL || index == 0 || units[index - 1].isOne(of: " \t\"'<>(", upTo: 0) else { return nil }
            let depth = isURL ? units[index - 1].depth : 0
            var (end, colon, at): (Int, Int?, Int?) = (index, nil, nil)
            while end < units.count, !units[end].isOne(of: "/\\?# \t\"'<>", upTo: depth),
                !units[end].isOne(of: "&;", upTo: depth - 1), isURL || !units[end].isOne(of: "(", upTo: 0)
            {
                if units[end].isOne(of: ":", upTo: depth) { colon = colon ?? end }
                if units[end].isOne(of: "@", upTo: depth) { at = end }
                end += 1
            }
            // A password may contain a slash: what follows the colon is no port then.
            if isURL, let colon, !units[index].isOne(of: "["),
                !units[(colon + 1)..<end].allSatisfy({ Redaction.isDigit($0.byte) })
            {
                at = lastAt(depth)
            }
            guard let at, at > index, isURL || colon.map({ $0 < at }) == true else { return nil }
            return index..<at
        }

        /// The last `@` of the word from here on.
        private mutating func lastAt(_ depth: Int) -> Int? {
            if let word = words[depth], word.end >= index { return word.lastAt >= index ? word.lastAt : nil }
            var (end, lastAt) = (index, -1)
            while end < units.count, !units[end].isOne(of: " \t\"'<>", upTo: depth) {
                if units[end].isOne(of: "@", upTo: depth) { lastAt = end }
                end += 1
            }
            words[depth] = (end, lastAt)
            return lastAt >= index ? lastAt : nil
        }

        /// The value of the parameter that begins here, if it is a credential: `?token=abc&size=1` is `?token=[hidden]&size=1`.
        private mutating func parameter() -> Range<Int>? {
            guard units[index].isOne(of: "?&#;") else { return nil }
            let name = units[(index + 1)...].prefix { !$0.isOne(of: "=?&#; \t") }
            guard name.endIndex < units.count, units[name.endIndex].isOne(of: "=") else { return nil }
            let (start, depth) = (name.endIndex + 1, units[index].depth)
            var end = valueEnds[depth] ?? 0
            if end < start {
                end = units[start...].firstIndex { $0.isOne(of: "&#; \t\"'<>", upTo: depth) } ?? units.count
                valueEnds[depth] = end
            }
            guard Redaction.isCredential(name.map(\.byte), units[start..<end]) else { return nil }
            // Punctuation after the URL does not belong to the value.
            while end > start, Scan.isPunctuation(units[end - 1]) { end -= 1 }
            return start < end ? start..<end : nil
        }

        static func isPunctuation(_ unit: Unit) -> Bool { unit.isOne(of: "):,.", upTo: 0) }
    }

    private static func isCredential(_ name: [UInt8], _ value: ArraySlice<Unit>) -> Bool {
        let name = String(decoding: name, as: UTF8.self)
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        if names.contains(plain) || parts.contains(where: plain.contains) { return true }
        if ["_key", "-key", "Key"].contains(where: name.hasSuffix) { return true }
        // Both searches end where another parameter begins.
        let word = value.prefix { isDigit($0.byte) || isLetter($0.byte) || $0.isOne(of: "-_+/=~") }
        let isWord = value[word.endIndex...].allSatisfy(Scan.isPunctuation)
        if shortNames.contains(plain) { return !isWord || word.count > 4 || !word.allSatisfy { isDigit($0.byte) } }
        return isWord && isGenerated(word.map(\.byte))
    }

    /// Whether a value looks like a generated token: at least 20 letters and digits, mixed, without the punctuation of names and
    /// addresses. A UUID identifies a thing.
    private static func isGenerated(_ value: [UInt8]) -> Bool {
        guard value.count >= 20, value.contains(where: isDigit), value.contains(where: isLetter) else { return false }
        return value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(\.count) != [
            8, 4, 4, 4, 12,
        ]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
