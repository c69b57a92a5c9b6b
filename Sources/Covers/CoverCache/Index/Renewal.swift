import Platform

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
    /// If true, the renewal is skipped when the entry's bytes are damaged or gone; the caller downloads the cover again.
    let isConfirmation: Bool

    /// - Parameters:
    ///   - entry: the entry as it was read.
    ///   - isConfirmation: the origin has confirmed the stored bytes, which are read again.
    package init(
        _ entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String, isConfirmation: Bool = true
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
