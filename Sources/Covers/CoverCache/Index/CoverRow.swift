import Platform

/// A cover's row.
struct CoverRow: Sendable, Hashable {
    var id: Int64
    var digest: Digest
    /// The body's length in bytes.
    var length: Int
    /// Bytes of the file's blocks.
    var charge: Int
    /// The number of pinned entries.
    var pins: Int
}
