public import AlbumLibrary
import CoverCache
package import CoverFetch
import CurlHTTP
import HTTPCaching
public import Platform

/// A request for one cover.
public struct CoverRequest: Sendable, Hashable {
    /// The http or https URL as the caller gave it, not validated. Empty if only the album locates the cover, or its digest names it.
    public package(set) var location: String
    /// `location` as a URL; nil if it is none.
    public var url: URL? { location.isEmpty ? nil : URL(string: location) }
    /// The album whose cover it is. It may locate the cover in more than one way.
    public package(set) var album: Album?
    /// The digest that names the cover; nil if something locates it.
    private(set) var digest: String?
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
        url: URL, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache, timeout: Duration? = nil,
        retries: Int? = nil, headerFields: RequestHeaderFields = [:], deniesPrivateAddresses: Bool = false
    ) {
        self.init(location: url.absoluteString, priority: priority, cachePolicy: cachePolicy)
        limit(timeout, retries, headerFields, deniesPrivateAddresses)
    }

    /// A request for the cover of an album: at its cover URL, else at one of its alternative URLs, else at the Cover Art Archive
    /// under its MusicBrainz ids.
    public init(
        album: Album, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache, timeout: Duration? = nil,
        retries: Int? = nil, headerFields: RequestHeaderFields = [:], deniesPrivateAddresses: Bool = false
    ) {
        self.init(
            location: album.coverURL?.trimmingWhitespace() ?? "", priority: priority, cachePolicy: cachePolicy)
        self.album = album
        limit(timeout, retries, headerFields, deniesPrivateAddresses)
    }

    /// A request for the front cover of a MusicBrainz release, at the Cover Art Archive, in the size of
    /// `LibraryConfiguration.coverSize`.
    public init(
        musicBrainzRelease id: UUID, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache,
        timeout: Duration? = nil, retries: Int? = nil, headerFields: RequestHeaderFields = [:],
        deniesPrivateAddresses: Bool = false
    ) {
        var album = Album()
        album.musicBrainzReleaseID = id.uuidString.lowercased()
        self.init(album: album, priority: priority, cachePolicy: cachePolicy)
        limit(timeout, retries, headerFields, deniesPrivateAddresses)
    }

    /// A request for the cached cover whose bytes have this digest, under whichever URLs. No server is asked for it: a call that would
    /// have to download it, by its policy or because it is not cached, fails with the kind `notCached`.
    /// - Parameter digest: as `Cover.digest`, in either case. What is no digest fails with the kind `badURL`.
    public init(digest: String) {
        self.init(location: "")
        self.digest = digest.lowercased()
    }

    /// A request for the cover at a URL as a list has it. A text that is none is a failure of the request.
    public init(location: String, priority: Priority? = nil, cachePolicy: CachePolicy = .useCache) {
        self.location = location
        self.priority = priority
        self.cachePolicy = cachePolicy
        headerFields = [:]
    }

    /// What a message calls the cover.
    var name: String { location.isEmpty ? digest ?? album?.title ?? "" : location }

    private mutating func limit(
        _ timeout: Duration?, _ retries: Int?, _ headerFields: RequestHeaderFields, _ deniesPrivateAddresses: Bool
    ) {
        (self.timeout, self.retries, self.headerFields) = (timeout, retries, headerFields)
        self.deniesPrivateAddresses = deniesPrivateAddresses
    }
}

/// What names a cover: a URL, an album, or a request, which has options or a digest.
public protocol CoverRequestConvertible: Sendable {
    /// The request for the cover.
    var coverRequest: CoverRequest { get }
}

extension CoverRequest: CoverRequestConvertible {
    /// The request itself.
    public var coverRequest: CoverRequest { self }
}

extension URL: CoverRequestConvertible {
    /// A request for the cover at the URL.
    public var coverRequest: CoverRequest { CoverRequest(url: self) }
}

extension Album: CoverRequestConvertible {
    /// A request for the album's cover.
    public var coverRequest: CoverRequest { CoverRequest(album: self) }
}

extension CoverRequest {
    /// Which cached answers are used. Further policies may be added.
    public struct CachePolicy: Sendable, Hashable {
        package let use: CacheUse

        /// Use the cached cover, even if it is stale, and a cached 404 or 410 (RFC 9111).
        public static let useCache = Self(use: .useCache)
        /// As `useCache`, but ask again where a failure is remembered: a 404 or 410 of the URL, a host that could not be reached.
        public static let ignoreAbsence = Self(use: .ignoreAbsence)
        /// Ask the server whether the cached cover is unchanged, even if it is fresh (RFC 9111 §4.3). It is downloaded if it has changed
        /// or is not cached. If the server cannot be asked, the request fails and the cached cover stays.
        public static let revalidate = Self(use: .revalidate)
        /// Download the cover, whatever is cached for its URL. Caches on the way are asked to validate theirs (`Cache-Control: no-cache`).
        /// If that fails, the request fails and the cached cover stays.
        public static let reload = Self(use: .reload)
    }
}

extension CoverRequest {
    /// The order in which the requests to one host are sent. A priority exceeds no limit: neither the number of transfers in flight
    /// nor a rate, nor a pause that the host asked for. Further priorities may be added.
    public struct Priority: Sendable, Hashable {
        package let order: FetchPriority

        /// In turn with all others of a run.
        public static let normal = Self(order: .normal)
        /// Before all others of the host, and before other hosts' turns: someone waits for the cover.
        public static let immediate = Self(order: .immediate)
    }
}

/// Whether a cached entry may be used without asking its server (RFC 9111 §4.2.4).
enum Staleness {
    case fresh
    /// Stale, and the server allows stale use.
    case allowed
    /// The server must be asked first: `must-revalidate`, `no-cache`, or an expired `stale-if-error`.
    case forbidden

    static let reason =
        "its copy in the cache is stale and must not be shown before its server is asked (must-revalidate, no-cache, or a stale-if-error that is over)"

    /// Whether the index says that an entry is fresh. A validation ahead of now was recorded with a wrong clock and is not trusted.
    /// - Parameters:
    ///   - until: as `EntryMetadata.freshUntil`.
    ///   - validatedAt: in milliseconds since 1970, as is `now`.
    static func isFresh(until: Int64?, validatedAt: Int64, at now: Int64) -> Bool {
        validatedAt <= now && until.map { $0 > now } ?? false
    }

    /// - Parameter now: milliseconds since 1970.
    init(_ entry: CachedEntry, at now: Int64) {
        // Most entries are fresh; the index says so without their header fields.
        if Self.isFresh(until: entry.metadata.freshUntil, validatedAt: entry.validatedAt, at: now) {
            self = .fresh
            return
        }
        // A cover that was given as a file has no server.
        if let url = try? HTTPURL(entry.metadata.key), url.isInvalidHost {
            self = .fresh
            return
        }
        self = StoredResponse(entry).mayBeStale(at: now) ? .allowed : .forbidden
    }
}
