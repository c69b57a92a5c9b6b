/// A change to an entry's times and fields after a revalidation. The bytes stay.
package struct Renewal: Sendable, Hashable {
    let row: EntryRow
    let key: String
    /// `validatedAt` as it was read. If it has changed since, or the entry was replaced or evicted, the renewal does nothing.
    let before: Int64
    /// Milliseconds since 1970.
    package let validatedAt: Int64
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package let freshUntil: Int64?
    package let fields: String

    /// - Parameter entry: the entry as it was read.
    package init(_ entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String) {
        row = entry.row
        key = entry.metadata.key
        before = entry.validatedAt
        self.validatedAt = validatedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }

    /// - Parameter metadata: the new metadata; its `storedAt` is the time of validation.
    package init(_ entry: CachedEntry, _ metadata: EntryMetadata) {
        self.init(entry, validatedAt: metadata.storedAt, freshUntil: metadata.freshUntil, fields: metadata.fields)
    }
}
