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
    package var lastUsed: Int64
    /// The key is pinned, so eviction spares the blob.
    package var isPinned = false
    package var row: EntryRow
}

/// Identifies an index row and the blob it named when it was read.
package struct EntryRow: Sendable, Hashable {
    package let id: Int64
    let blob: Int64
}

/// What an entry is stored under.
package enum EntryKey: Sendable, Hashable {
    /// A cover: a 200 that does not vary. Its key is its normalised URL.
    case cover(url: String)
    /// Any other response of a URL, in one of a few numbered slots. Only a mirror stores and uses these.
    case response(slot: Int, url: String)

    /// The key as the index and the segments hold it.
    package var text: String {
        switch self {
        case .cover(let url): url
        case .response(let slot, let url): "response \(slot) of \(url)"
        }
    }

    /// Whether `text` is the key of a cover. Cover keys are http or https URLs; no other key begins with "http".
    package static func isCover(_ text: String) -> Bool { text.utf8.starts(with: "http".utf8) }
}

extension CachedEntry {
    package var isCover: Bool { EntryKey.isCover(metadata.key) }
}

/// A change to an entry's times and fields after a revalidation. The bytes stay.
package struct Renewal: Sendable, Hashable {
    let row: EntryRow
    let key: String
    let digest: Digest
    /// `validatedAt` as it was read. If it has changed since, or the entry was replaced or evicted, the renewal does nothing.
    let before: Int64
    /// Milliseconds since 1970.
    package let validatedAt: Int64
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package let freshUntil: Int64?
    package let fields: String
    /// The entry is removed instead if its bytes are damaged or gone.
    let isConfirmation: Bool

    /// The origin has confirmed the stored bytes, which are read again.
    /// - Parameter entry: the entry as it was read.
    package init(confirming entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String) {
        self.init(
            entry, validatedAt: validatedAt, freshUntil: freshUntil, fields: fields, isConfirmation: true)
    }

    /// - Parameter metadata: the new metadata; its `storedAt` is the time of validation.
    package init(_ entry: CachedEntry, _ metadata: EntryMetadata) {
        self.init(
            entry, validatedAt: metadata.storedAt, freshUntil: metadata.freshUntil, fields: metadata.fields,
            isConfirmation: false)
    }

    private init(
        _ entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String, isConfirmation: Bool
    ) {
        row = entry.row
        key = entry.metadata.key
        digest = entry.digest
        before = entry.validatedAt
        self.validatedAt = validatedAt
        self.freshUntil = freshUntil
        self.fields = fields
        self.isConfirmation = isConfirmation
    }
}
