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
}
