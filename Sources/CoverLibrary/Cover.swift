/// A cover and what is known of it.
public struct Cover: Sendable, Hashable {
    /// The normalised URL: its key in the cache.
    public var url: String
    /// The image itself, as the server sent it.
    public var bytes: [UInt8]
    /// Told by the image's leading bytes, not by the server: `image/jpeg`, …
    public var mediaType: String
    /// In pixels, where the format's header says.
    public var width: Int?
    /// In pixels, where the format's header says.
    public var height: Int?
    /// SHA-256 of `bytes`, in hexadecimal.
    public var digest: String
    /// It was in the cache, and its server has not been asked for longer than it may be believed (RFC 9111 section 4.2.4): it
    /// may have changed since.
    public var isStale = false
}

/// What the cache holds and how it has served.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// URLs that have a cover.
    public var entries = 0
    /// Different covers.
    public var blobs = 0
    /// Length of the different covers, in bytes.
    public var liveBytes = 0
    /// Blocks charged against the capacity, in bytes.
    public var chargedBytes = 0
    /// What the segments and the index take of the disk, in bytes.
    public var diskBytes = 0
    /// The limit of `chargedBytes`.
    public var capacity = 0
    /// Requests answered from the cache, over its life.
    public var hits = 0
    /// Requests it could not answer, over its life.
    public var misses = 0
    /// What the entries would take more if equal covers were not stored once.
    public var deduplicatedBytes = 0
    /// When the oldest entry was stored, in milliseconds since 1970.
    public var oldest: Int64?
    /// When the newest entry was stored, in milliseconds since 1970.
    public var newest: Int64?
}
