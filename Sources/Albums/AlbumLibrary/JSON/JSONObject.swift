/// Writes one JSON object on one line (RFC 8259), its members in the order given. Fast enough for a report of tens of
/// thousands of lines a second.
package struct JSONObject: ExpressibleByDictionaryLiteral {
    private var bytes: [UInt8] = [Byte.openBrace]

    package init() {}

    package init(dictionaryLiteral members: (String, any JSONValue)...) {
        for (name, value) in members { add(name, value) }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) + "}" }

    package mutating func add(_ name: String, _ value: some JSONValue) {
        if bytes.count > 1 { bytes.append(Byte.comma) }
        bytes.append(json: name)
        bytes.append(Byte.colon)
        value.append(to: &bytes)
    }

    package mutating func add(_ members: KeyValuePairs<String, any JSONValue>) {
        for (name, value) in members { add(name, value) }
    }

    /// - Parameter text: The value as JSON.
    package mutating func add(_ name: String, raw text: String) { add(name, JSONText(text)) }
}

/// A value of a member; nil is null.
package protocol JSONValue {
    func append(to json: inout [UInt8])
}

/// A value that is JSON already.
package struct JSONText: JSONValue {
    private let text: String
    package init(_ text: String) { self.text = text }
    package func append(to json: inout [UInt8]) { json += text.utf8 }
}

extension String: JSONValue {
    package func append(to json: inout [UInt8]) { json.append(json: self) }
}

extension Int: JSONValue {
    package func append(to json: inout [UInt8]) { json += String(self).utf8 }
}

extension Double: JSONValue {
    /// Writes 0 for a number that JSON cannot express.
    package func append(to json: inout [UInt8]) { json += (isFinite ? String(self) : "0").utf8 }
}

extension Bool: JSONValue {
    package func append(to json: inout [UInt8]) { json += (self ? "true" : "false").utf8 }
}

extension [String]: JSONValue {
    package func append(to json: inout [UInt8]) { json += "[\(map(\.json).joined(separator: ","))]".utf8 }
}

extension Optional: JSONValue where Wrapped: JSONValue {
    package func append(to json: inout [UInt8]) {
        if let self { self.append(to: &json) } else { json += "null".utf8 }
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

/// A member of a JSON object (RFC 8259 section 4). Its value is kept as written, so that a rewritten file has the same bytes.
package struct JSONMember: Hashable, Sendable {
    let name: String
    /// The value as JSON.
    var json: String

    init(_ name: String, json: String) {
        self.name = name
        self.json = json
    }

    /// A member whose value is a string.
    init(_ name: String, _ text: String) { self.init(name, json: text.json) }

    /// Whether the value is `null` or an empty string.
    var isEmpty: Bool { json == "null" || json == "\"\"" }

    /// The text of a string, or a number as written; nil for any other value.
    var text: String? {
        switch json.utf8.first {
        case Byte.quote?: JSONCursor.read(json) { (cursor) throws(JSONCursor.SyntaxError) in try cursor.string() }
        case UInt8(ascii: "-")?, (Byte.zero...UInt8(ascii: "9"))?: json
        default: nil
        }
    }

    /// The strings in an array; nil for any other value.
    var strings: [String]? {
        JSONCursor.read(json) { (cursor) throws(JSONCursor.SyntaxError) in
            var strings: [String] = []
            try cursor.array { (cursor) throws(JSONCursor.SyntaxError) in
                if cursor.peek() == Byte.quote { strings.append(try cursor.string()) } else { try cursor.skipValue() }
            }
            return strings
        }
    }
}

extension [JSONMember] {
    /// The value of the first member of this name, as JSON. Nil removes it; a new name is appended.
    subscript(name: String) -> String? {
        get { first { $0.name == name }?.json }
        set { set(newValue, at: firstIndex { $0.name == name }, name: name) }
    }

    /// Replaces the value of the member at `index`; appends one named `name` if `index` is nil; removes it if `json` is nil.
    mutating func set(_ json: String?, at index: Int?, name: String) {
        switch (index, json) {
        case (let index?, let json?): self[index].json = json
        case (let index?, nil): remove(at: index)
        case (nil, let json?): append(JSONMember(name, json: json))
        case (nil, nil): break
        }
    }
}

extension String {
    /// The text as a JSON string.
    package var json: String {
        var bytes: [UInt8] = []
        bytes.append(json: self)
        return String(decoding: bytes, as: UTF8.self)
    }
}
