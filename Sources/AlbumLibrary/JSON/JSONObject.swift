/// One JSON object on one line (RFC 8259), its members in the order given. A report writes tens of thousands a second.
package struct JSONObject {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    package init() {}

    package var text: String { String(decoding: bytes, as: UTF8.self) + "}" }

    package mutating func add(_ name: String, _ value: String?) {
        begin(name)
        if let value { JSONText.append(value, to: &bytes) } else { bytes += "null".utf8 }
    }

    package mutating func add(_ name: String, _ value: Int?) { add(name, raw: value.map { String($0) } ?? "null") }

    package mutating func add(_ name: String, _ value: Double) { add(name, raw: value.isFinite ? String(value) : "0") }

    package mutating func add(_ name: String, _ value: Bool) { add(name, raw: value ? "true" : "false") }

    /// - Parameter text: JSON already.
    package mutating func add(_ name: String, raw text: String) {
        begin(name)
        bytes += text.utf8
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
