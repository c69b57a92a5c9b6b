package import HTTPTypes

/// One line of the text in which a cache entry stores the fields of its response: `name: value`.
package struct FieldLine {
    package let name: Bytes
    /// To the byte as it was received.
    package let value: Bytes

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
    mutating func appendFieldLine(_ name: String, _ value: String) {
        append(name)
        append(": ")
        append(value)
        append("\n")
    }
}

extension HTTPFields {
    /// The fields among the lines of an entry. Lines that are no fields are ignored.
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
