/// A JSON value (RFC 8259) as it was written: numbers to the digit, members in their order.
package indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number, as written.
    case number(String)
    /// A string, without quotes and escapes.
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
}

/// A name and its value in a JSON object.
package struct JSONMember: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension [JSONMember] {
    /// The value of the first member of this name. Nil removes it; a new name is appended.
    subscript(name: String) -> JSONValue? {
        get { first { $0.name == name }?.value }
        set { set(newValue, at: firstIndex { $0.name == name }, name: name) }
    }

    /// Replaces the member at `index`; appends one named `name` if `index` is nil; removes it if `value` is nil.
    mutating func set(_ value: JSONValue?, at index: Int?, name: @autoclosure () -> String) {
        switch (index, value) {
        case (let index?, let value?): self[index].value = value
        case (let index?, nil): remove(at: index)
        case (nil, let value?): append(JSONMember(name(), value))
        case (nil, nil): break
        }
    }
}

extension JSONValue {
    /// Reads one value. `depth` is the number of containers around it.
    init(_ cursor: inout JSONCursor, depth: Int) throws(JSONCursor.SyntaxError) {
        guard depth < JSONCursor.maximumDepth else { throw cursor.tooDeep }
        switch cursor.peek() {
        case Byte.openBrace?:
            var members: [JSONMember] = []
            try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in
                members.append(JSONMember(name, try JSONValue(&cursor, depth: depth + 1)))
            }
            self = .object(members)
        case Byte.openBracket?:
            var values: [JSONValue] = []
            try cursor.array { (cursor) throws(JSONCursor.SyntaxError) in
                values.append(try JSONValue(&cursor, depth: depth + 1))
            }
            self = .array(values)
        case Byte.quote?: self = .string(try cursor.string())
        case UInt8(ascii: "t")?:
            try cursor.literal("true")
            self = .bool(true)
        case UInt8(ascii: "f")?:
            try cursor.literal("false")
            self = .bool(false)
        case UInt8(ascii: "n")?:
            try cursor.literal("null")
            self = .null
        default: self = .number(try cursor.number())
        }
    }

    /// Appends the value as JSON on one line.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): bytes.append(json: text)
        case .array(let values):
            bytes.append(Byte.openBracket)
            for (index, value) in values.enumerated() {
                if index > 0 { bytes += ", ".utf8 }
                value.append(to: &bytes)
            }
            bytes.append(Byte.closeBracket)
        case .object(let members):
            bytes.append(Byte.openBrace)
            for (index, member) in members.enumerated() {
                if index > 0 { bytes += ", ".utf8 }
                bytes.append(json: member.name)
                bytes += ": ".utf8
                member.value.append(to: &bytes)
            }
            bytes.append(Byte.closeBrace)
        }
    }

    /// The value as JSON on one line.
    var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
