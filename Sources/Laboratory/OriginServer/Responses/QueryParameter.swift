import HTTPTypes
import Platform

/// One parameter of a query. Its value is still percent-encoded.
struct QueryParameter {
    let name: Substring
    private let value: Substring

    init(_ pair: Substring) {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts[0]
        value = parts.count > 1 ? parts[1] : ""
    }

    func number(in range: ClosedRange<Int>) throws(OriginError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            let end = range.upperBound == .max ? "up" : "to \(range.upperBound)"
            throw error(expected: "a whole number from \(range.lowerBound) \(end)")
        }
        return number
    }

    func fault() throws(OriginError) -> OriginFault {
        guard let fault = OriginFault(rawValue: try text()) else {
            throw error(expected: "one of \(OriginFault.names)")
        }
        return fault
    }

    /// A header field, written as `Name:value`.
    func field() throws(OriginError) -> HTTPField {
        let parts = try text().split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
            throw error(expected: "Name:value")
        }
        return HTTPField(name: name, value: String(parts[1].drop { $0 == " " }))
    }

    /// The decoded value. Control characters are rejected, because it goes into header fields.
    func text() throws(OriginError) -> String {
        var bytes: [UInt8] = []
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let decoded = Hexadecimal.byte(rest.prefix(2)) else {
                throw error(expected: "two hexadecimal digits after %")
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw error(expected: "UTF-8 without control characters") }
        return text
    }

    private func error(expected: String) -> OriginError {
        .invalidValue(name: String(name), value: String(value), expected: expected)
    }
}
