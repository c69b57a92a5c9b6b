/// An entry as the index describes it.
package struct CachedEntry: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// The body's length.
    package var bytes: Int
    /// Milliseconds since 1970.
    package var validatedAt: Int64
    /// The recency clock at the last use.
    package var lastUsed: Int64
    /// Eviction spares the blob.
    package var isPinned = false
    package var row: EntryRow
}

/// Identifies an index row and the blob it named when it was read.
package struct EntryRow: Sendable, Hashable {
    package let id: Int64
    let blob: Int64
}
