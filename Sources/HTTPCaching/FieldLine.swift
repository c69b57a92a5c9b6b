package import HTTPTypes

/// One line of the text in which a cache entry stores the fields of its response: `name: value`.
///
/// The cache also stores notes of its own as lines. The name of a note contains a space, which no field name does.
package struct FieldLine {
    package let name: Bytes
    /// To the byte as it was received.
    package let value: Bytes

    package var isNote: Bool { name.contains(UInt8(ascii: " ")) }

    /// Removes the first line with a colon from `lines`. Nil if there is none.
    package init?(_ lines: inout Bytes) {
        while !lines.isEmpty {
            let line = lines.removePrefix(before: UInt8(ascii: "\n"))
            guard let colon = line.offset(of: UInt8(ascii: ":")) else { continue }
            name = line[to: colon]
            value = line[from: min(colon + 2, line.count)]
            return
        }
        return nil
    }
}

extension String {
    package mutating func appendFieldLine(_ name: String, _ value: String) {
        append(name)
        append(": ")
        append(value)
        append("\n")
    }
}

extension HTTPFields {
    /// The fields of an entry, without the cache's notes.
    package init(fieldLines text: String) {
        self.init()
        text.withBytes { lines in
            var rest = lines
            while let line = FieldLine(&rest) {
                guard let name = HTTPField.Name(line.name.string) else { continue }
                append(HTTPField(name: name, value: line.value.string))
            }
        }
    }

    package var fieldLines: String {
        var text = ""
        for field in self { text.appendFieldLine(field.name.canonicalName, field.value) }
        return text
    }
}
