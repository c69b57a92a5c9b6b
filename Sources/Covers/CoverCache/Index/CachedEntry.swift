package import Platform

/// An entry as the index describes it.
package struct CachedEntry: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// The body's length.
    package var bytes: Int
    /// Milliseconds since 1970.
    package var validatedAt: Int64
    /// The recency clock at the last use.
    package var lastUsed: Int
    /// The key is pinned, so eviction spares the cover.
    package var isPinned = false
    package var row: EntryRow
}

extension EntryLine {
    package init(_ entry: CachedEntry) {
        self.init(entry.metadata, entry.digest, bytes: entry.bytes)
        if entry.validatedAt != metadata.storedAt { metadata.validatedAt = entry.validatedAt }
    }
}
