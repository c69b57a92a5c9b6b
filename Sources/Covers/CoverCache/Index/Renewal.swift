/// A change to an entry's times and fields after a revalidation. The bytes stay.
package struct Renewal: Sendable, Hashable {
    /// As it was read. If it was validated, replaced or evicted since, the renewal does nothing.
    let entry: CachedEntry
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
        (self.entry, self.isConfirmation) = (entry, isConfirmation)
        (self.validatedAt, self.freshUntil, self.fields) = (validatedAt, freshUntil, fields)
    }
}
