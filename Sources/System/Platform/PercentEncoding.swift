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

    /// The text as a part of a URL: all but unreserved characters encoded.
    package static func encoded(_ text: String) -> String {
        String(decoding: text.utf8.flatMap { isUnreserved($0) ? [$0] : encoded($0) }, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// With digits of the upper case, as section 2.1 recommends.
    package static func encoded(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Section 2.3.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// Digits of the base 16, as ASCII characters (RFC 4648 section 8).
package enum Hexadecimal {
    /// The lower-case digit of a value below 16.
    package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    /// The value of a digit in either case; nil for another character.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The byte that two digits spell; nil unless there are exactly two.
    package static func byte(_ digits: some Collection<UInt8>) -> UInt8? {
        guard digits.count == 2, let high = digits.first.flatMap(value),
            let low = digits.dropFirst().first.flatMap(value)
        else { return nil }
        return high << 4 | low
    }

    /// Two lower-case digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
    }

    /// The bytes that a text spells, two digits each; nil for any other text.
    package static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var (bytes, rest) = ([UInt8](), Array(text)[...])
        while let byte = byte(rest.prefix(2)) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return rest.isEmpty ? bytes : nil
    }
}
