import CoverCache

/// The result of checking every cover of a cache.
public struct CacheVerification: Sendable, Hashable {
    /// URLs that have a cover.
    public var entries = 0
    /// Different covers.
    public var covers = 0
    /// Length of the different covers in bytes.
    public var bytes = 0
    /// A sentence for each damaged cover or entry.
    public var defects: [String] = []
    /// The URLs of covers whose images are incomplete: their bytes are those that the server sent, and stop before the image's end.
    public var incomplete: [String] = []
    /// Damaged covers that were dropped.
    public var dropped = 0
    /// Covers that the disk could not read, and that were kept.
    public var unreadable = 0
    /// The number of entries in the rebuilt index; nil if it was not rebuilt.
    public var rebuiltEntries: Int?

    /// The result for an empty cache.
    public init() {}

    init(_ found: VerifyReport) {
        (entries, covers, bytes) = (found.entries, found.covers, found.bytes)
        defects = found.defects.map(\.description)
    }
}
