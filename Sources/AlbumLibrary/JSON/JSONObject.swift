/// Writes one JSON object on one line (RFC 8259), its members in the order given. Fast enough for a report of tens of
/// thousands of lines a second.
package struct JSONObject {
    private var bytes: [UInt8] = [Byte.openBrace]

    package init() {}

    package var text: String { String(decoding: bytes, as: UTF8.self) + "}" }

    package mutating func add(_ name: String, _ value: String?) {
        begin(name)
        if let value { bytes.append(json: value) } else { bytes += "null".utf8 }
    }

    package mutating func add(_ name: String, _ value: Int?) { add(name, raw: value.map { String($0) } ?? "null") }

    /// Writes 0 for a number that JSON cannot express.
    package mutating func add(_ name: String, _ value: Double) { add(name, raw: value.isFinite ? String(value) : "0") }

    package mutating func add(_ name: String, _ value: Bool) { add(name, raw: value ? "true" : "false") }

    /// - Parameter text: The value as JSON.
    package mutating func add(_ name: String, raw text: String) {
        begin(name)
        bytes += text.utf8
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(Byte.comma) }
        bytes.append(json: name)
        bytes.append(Byte.colon)
    }
}

extension [UInt8] {
    /// Appends a JSON string (RFC 8259 section 7).
    mutating func append(json text: String) {
        append(Byte.quote)
        for byte in text.utf8 {
            switch byte {
            case Byte.quote, Byte.backslash: self += [Byte.backslash, byte]
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                self += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: append(byte)
            }
        }
        append(Byte.quote)
    }
}
