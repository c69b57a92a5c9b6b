/// What the index is to say of an entry from now on. Its bytes stay.
package struct Renewal: Sendable, Hashable {
    let row: EntryRow
    let key: String
    /// As the entry was read. One that is not what it was has been stored anew meanwhile, or evicted, and stays as it is.
    let before: Int64
    /// When a server last spoke for it, and how long it is fresh, in milliseconds since 1970.
    package let validatedAt: Int64
    package let freshUntil: Int64?
    package let fields: String

    /// - Parameter entry: as it was read.
    package init(_ entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String) {
        row = entry.row
        key = entry.metadata.key
        before = entry.validatedAt
        self.validatedAt = validatedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }

    /// - Parameter metadata: from now on; `storedAt` is the time at which the entry was validated.
    package init(_ entry: CachedEntry, _ metadata: EntryMetadata) {
        self.init(entry, validatedAt: metadata.storedAt, freshUntil: metadata.freshUntil, fields: metadata.fields)
    }
}
