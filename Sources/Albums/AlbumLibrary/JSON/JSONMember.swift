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
