import CoverCache

@testable import CoverLibrary

extension Stage {
    func entries() throws -> [CachedEntry] {
        var entries: [CachedEntry] = []
        try library.covers.shelf.reader.entries { entries.append($0) }
        return entries
    }

    /// Stores a cover with these header fields.
    func store(_ url: String, _ body: [UInt8], fields: String, validated: Int64 = 1_000) async throws {
        try await library.maintain { writer in
            let metadata = EntryMetadata(key: url, mediaType: "image/jpeg", storedAt: validated, fields: fields)
            _ = try body.withUnsafeBytes { try writer.put(metadata, body: $0) }
            _ = try writer.commit()
        }
    }
}
