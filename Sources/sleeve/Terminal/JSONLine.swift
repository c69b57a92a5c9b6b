import CoverLibrary

/// One JSON object on one line (RFC 8259), its members in the order given. The report writes tens of thousands a second.
struct JSONLine {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    var text: String { String(decoding: bytes, as: UTF8.self) + "}\n" }

    mutating func add(_ name: StaticString, _ value: String?) {
        begin(name)
        guard let value else { return addRaw("null") }
        JSONText.append(value, to: &bytes)
    }

    mutating func add(_ name: StaticString, _ value: Int?) {
        begin(name)
        addRaw(value.map { String($0) } ?? "null")
    }

    /// - Parameter digits: after the point.
    mutating func add(_ name: StaticString, _ value: Double, digits: Int) {
        begin(name)
        addRaw(Decimals.text(value, digits))
    }

    /// - Parameter text: JSON already.
    mutating func addJSON(_ name: StaticString, _ text: String) {
        begin(name)
        addRaw(text)
    }

    mutating func add(_ name: StaticString, _ value: Bool) {
        begin(name)
        addRaw(value ? "true" : "false")
    }

    private mutating func begin(_ name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
    }

    private mutating func addRaw(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
