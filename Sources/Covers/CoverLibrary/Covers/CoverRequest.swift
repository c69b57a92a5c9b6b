import AlbumLibrary
public import Platform

/// A request for one cover.
public struct CoverRequest: Sendable, Hashable {
    /// The http or https URL as the caller gave it, not validated. Empty if only the album locates the cover.
    public package(set) var location: String
    /// `location` as a URL; nil if it is none.
    public var url: URL? { location.isEmpty ? nil : URL(string: location) }
    /// The album whose cover it is. It may locate the cover in more than one way.
    public package(set) var album: Album?
    /// The line of the list that named it, or the number of the request in its sequence, from 1. `CoverOutcome.line` repeats it.
    public var line: Int?
    /// Nil for the default: `immediate` for `LibraryAPI.cover(for:)`, as someone waits for its cover, and `normal` in a prefetch.
    public var priority: Priority?
    /// Which cached answers are used.
    public var cachePolicy: CachePolicy
    /// How long the whole call may take, from when it is made or a prefetch reads the request: its turn, every attempt, the pauses between them.
    /// Then it fails with the kind `timeout`; earlier, and with what the server said, if no other attempt can start within that time. A cover that
    /// has arrived by then is stored and returned. Nil for no limit of its own.
    public var timeout: Duration?
    /// Retries after a temporary failure; nil for those of the configuration. A transfer that several requests share is retried as often as the
    /// most patient of them allows.
    public var retries: Int?
    /// What the request sends beside Sleeve's own header fields, such as `Authorization`. It goes to the origin of the cover URL only:
    /// not to another one that it redirects to, nor to an album's other cover URLs elsewhere. See also
    /// `LibraryConfiguration.headerFields`.
    public var headerFields: RequestHeaderFields
    /// Connect to public addresses only, for a URL from elsewhere. A cached cover of another address is used, and a transfer from there that
    /// another request has begun.
    public var deniesPrivateAddresses = false

    /// A request for the cover at an http or https URL.
    public init(
        url: URL, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache,
        headerFields: RequestHeaderFields = [:]
    ) {
        self.init(location: url.absoluteString, priority: priority, cachePolicy: cachePolicy)
        self.headerFields = headerFields
    }

    /// A request for the cover of an album: at its cover URL, else at one of its alternative URLs, else at the Cover Art Archive
    /// under its MusicBrainz ids.
    public init(
        album: Album, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache,
        headerFields: RequestHeaderFields = [:]
    ) {
        self.init(
            location: album.coverURL?.trimmingWhitespace() ?? "", priority: priority, cachePolicy: cachePolicy)
        self.album = album
        self.headerFields = headerFields
    }

    /// A request for the cover at a URL as a list has it. A text that is none is a failure of the request.
    public init(location: String, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache) {
        self.location = location
        self.priority = priority
        self.cachePolicy = cachePolicy
        headerFields = [:]
    }
}
