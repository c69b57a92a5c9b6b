/// Any JSON value (RFC 8259), kept as it was: numbers to the digit, members in their order.
package indirect enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as it was written.
    case number(String)
    /// A string, without its quotes and escapes.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Members in order.
    case object([JSONMember])
}

/// A name and its value in a JSON object.
package struct JSONMember: Hashable, Sendable {
    /// The member's name.
    package var name: String
    /// The member's value.
    package var value: JSONValue

    /// A member of this name and value.
    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// Reads one value. `depth` counts the containers around it.
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

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): JSONText.append(text, to: &bytes)
        case .array(let values):
            bytes.append(Byte.openBracket)
            for (position, value) in values.enumerated() {
                if position > 0 { bytes += ", ".utf8 }
                value.append(to: &bytes)
            }
            bytes.append(Byte.closeBracket)
        case .object(let members):
            bytes.append(Byte.openBrace)
            for (position, member) in members.enumerated() {
                if position > 0 { bytes += ", ".utf8 }
                JSONText.append(member.name, to: &bytes)
                bytes += ": ".utf8
                member.value.append(to: &bytes)
            }
            bytes.append(Byte.closeBrace)
        }
    }
}
