package import HTTPTypes

/// One line of the text in which a cache entry stores the fields of its response: `name: value`.
package struct FieldLine {
    package let name: Bytes
    /// To the byte as it was received, but for a value that is no UTF-8 (`String.append(fieldLine:)`).
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

    /// The private-use scalars that stand for the bytes 0x80 to 0xFF of a value that is no UTF-8.
    static let rawBytes: ClosedRange<UInt32> = 0xEF80...0xEFFF

    static func scalar(of byte: UInt8) -> Unicode.Scalar {
        byte < 0x80 ? Unicode.Scalar(byte) : Unicode.Scalar(0xEF00 | UInt32(byte)) ?? "?"
    }

    /// The field with the value as it was received.
    func field(_ name: HTTPField.Name) -> HTTPField {
        // The first byte of these scalars in UTF-8.
        guard value.contains(0xEE) else { return HTTPField(name: name, value: value) }
        let scalars = value.string.unicodeScalars
        guard scalars.contains(where: { Self.rawBytes.contains($0.value) }) else {
            return HTTPField(name: name, value: value)
        }
        return HTTPField(name: name, value: scalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
}

extension String {
    /// Appends the line of a field. The text is UTF-8, and a value need not be (RFC 9110 section 5.5): in a value that is not, or
    /// that holds a scalar of `FieldLine.rawBytes`, each byte from 0x80 on is the scalar 0xEF00 + byte.
    mutating func append(fieldLine field: HTTPField) {
        append(field.name.canonicalName)
        append(": ")
        field.withUnsafeBytesOfValue { bytes in
            let text =
                bytes.allSatisfy { $0 < 0x80 }
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
            if let text, !text.unicodeScalars.contains(where: { FieldLine.rawBytes.contains($0.value) }) {
                append(text)
            } else {
                for byte in bytes { unicodeScalars.append(FieldLine.scalar(of: byte)) }
            }
        }
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
                append(line.field(name))
            }
        }
    }

    package var fieldLines: String {
        var text = ""
        for field in self { text.append(fieldLine: field) }
        return text
    }
}
