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
        begin(name)
        value.append(to: &bytes)
    }

    package mutating func add(_ members: KeyValuePairs<String, any JSONValue>) {
        for (name, value) in members { add(name, value) }
    }

    /// - Parameter text: The value as JSON.
    package mutating func add(_ name: String, raw text: String) { add(name, JSONText(text)) }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(Byte.comma) }
        bytes.append(json: name)
        bytes.append(Byte.colon)
    }
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
    package func append(to json: inout [UInt8]) {
        json.append(Byte.openBracket)
        for (index, text) in enumerated() {
            if index > 0 { json.append(Byte.comma) }
            text.append(to: &json)
        }
        json.append(Byte.closeBracket)
    }
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
