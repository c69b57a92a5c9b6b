/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// The bytes that a text encodes. A `%` that two hexadecimal digits do not follow stays.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var (decoded, rest) = ([UInt8](), ArraySlice(Array(text)))
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = Hexadecimal.byte(rest.prefix(2)) {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// The text as a part of a URL: all but unreserved characters (section 2.3) encoded.
    package static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if byte < 0x80,
                Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                    || "-._~".utf8.contains(byte)
            {
                encoded.append(byte)
            } else {
                // Digits of the upper case, as section 2.1 recommends.
                let digits = [byte >> 4, byte & 15].map { Hexadecimal.digit($0) }
                encoded += [UInt8(ascii: "%")] + digits.map { $0 >= UInt8(ascii: "a") ? $0 & 0xDF : $0 }
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
