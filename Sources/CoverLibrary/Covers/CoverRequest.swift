public import Platform

/// A request for one cover.
public struct CoverRequest: Sendable, Hashable {
    /// When the transfer starts.
    public enum Priority: Sendable, Hashable {
        /// In turn with all others.
        case normal
        /// At once, even if the host is paused after failures or at its limit: for a person who tries again.
        case immediate
    }

    /// What the cache may answer.
    public enum CachePolicy: Sendable, Hashable {
        /// Use the cached cover, also if it is stale, and a cached 404 or 410 (RFC 9111).
        case useCache
        /// As `useCache`, but request the URL even if a 404 or 410 is cached for it.
        case ignoreAbsence
        /// Never connect.
        case onlyCache
    }

    /// The URL as the caller gave it, not validated; empty if only the album locates the cover.
    package var location: String
    /// The album whose cover it is. It may locate the cover in more than one way.
    package var album: Album?
    /// The line of the list that named it.
    package var line: Int?
    /// When the transfer starts.
    public var priority: Priority
    /// What the cache may answer.
    public var cachePolicy: CachePolicy

    /// A request for the cover at an http or https URL.
    public init(url: URL, priority: Priority = .normal, cachePolicy: CachePolicy = .useCache) {
        self.init(url.absoluteString, priority: priority, cachePolicy: cachePolicy)
    }

    /// A request for the cover of an album: at its cover URL, else at one of its alternative URLs, else at the Cover Art Archive
    /// under its MusicBrainz ids.
    public init(album: Album, priority: Priority = .normal, cachePolicy: CachePolicy = .useCache) {
        self.init(album.coverURL?.trimmingWhitespace() ?? "", priority: priority, cachePolicy: cachePolicy)
        self.album = album
    }

    /// - Parameter location: a URL as written in a list.
    package init(_ location: String, priority: Priority = .normal, cachePolicy: CachePolicy = .useCache) {
        self.location = location
        self.priority = priority
        self.cachePolicy = cachePolicy
    }
}
