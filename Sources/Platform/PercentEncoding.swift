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
}
