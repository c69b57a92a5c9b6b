/// Everything known of an entry apart from its bytes. A segment alone is enough to rebuild the entry's index row from it.
package struct EntryMetadata: Sendable, Hashable {
    /// The text of an `EntryKey`.
    package var key: String
    package var mediaType: String
    package var width: Int?
    package var height: Int?
    /// Milliseconds since 1970.
    package var storedAt: Int64
    /// Milliseconds since 1970; nil if the entry was not validated after it was stored. Only packs state it: a validation changes the
    /// index and appends no record.
    package var validatedAt: Int64?
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package var freshUntil: Int64?
    /// The response's header fields as lines of `name: value`, and an `EntryAnnotation` a line.
    package var fields: String

    package init(
        key: String, mediaType: String, width: Int? = nil, height: Int? = nil, storedAt: Int64,
        freshUntil: Int64? = nil, fields: String = ""
    ) {
        self.key = key
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }
}

extension EntryMetadata {
    /// Appends the text that a record holds; see `RecordHeader`.
    func encode(into bytes: inout [UInt8]) {
        func line(_ name: StaticString, _ value: String) {
            name.withUTF8Buffer { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        line("url: ", key)
        line("type: ", mediaType)
        if let width, let height { line("size: ", "\(width)x\(height)") }
        line("stored: ", String(storedAt))
        if let validatedAt { line("validated: ", String(validatedAt)) }
        if let freshUntil { line("fresh-until: ", String(freshUntil)) }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: fields.utf8)
    }

    /// Decodes a record's text. Lines with unknown names are ignored. Returns nil if there is no key.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        self.init(key: "", mediaType: "application/octet-stream", storedAt: 0)
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[colon...].dropFirst(2))
            switch line[..<colon] {
            case "url": key = value
            case "type": mediaType = value
            case "size":
                let sides = value.split(separator: "x").compactMap { Int($0) }
                if sides.count == 2 { (width, height) = (sides[0], sides[1]) }
            case "stored": storedAt = Int64(value) ?? 0
            case "validated": validatedAt = Int64(value)
            case "fresh-until": freshUntil = Int64(value)
            default: break
            }
        }
        fields = String(decoding: rest, as: UTF8.self)
        if key.isEmpty { return nil }
    }
}
