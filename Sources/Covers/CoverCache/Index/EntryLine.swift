package import Platform

/// A stored entry as a line of `EntryLog`.
package struct EntryLine: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// The body's length.
    package var bytes: Int

    package init(_ metadata: EntryMetadata, _ digest: Digest, bytes: Int) {
        (self.metadata, self.digest, self.bytes) = (metadata, digest, bytes)
    }

    package init(_ entry: CachedEntry) {
        self.init(entry.metadata, entry.digest, bytes: entry.bytes)
        if entry.validatedAt != metadata.storedAt { metadata.validatedAt = entry.validatedAt }
    }

    /// When the server sent or confirmed the cover, in milliseconds since 1970.
    package var validatedAt: Int64 { metadata.validatedAt ?? metadata.storedAt }

    /// Nil if it is damaged, or a line of another kind.
    package init?(_ line: some Collection<UInt8>) {
        guard case .stored(let metadata, let digest, let bytes) = EntryLog.Line(line) else { return nil }
        self.init(metadata, digest, bytes: bytes)
    }

    /// The line and its line feed.
    package var line: [UInt8] { EntryLog.Line.stored(metadata, digest, bytes: bytes).bytes }
}
