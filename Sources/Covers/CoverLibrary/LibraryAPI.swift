public import AlbumLibrary
public import CoverCache
package import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform
import Synchronization

/// A library of albums and their covers: downloaded in bulk, kept on disk, readable without a network.
///
/// A program needs one object; all methods may be called from any thread. Several processes may share a cache directory.
///
/// The first library of a process initializes libcurl and, unless SQLite is in use already, turns off its memory statistics and reads
/// its error log. Nothing else of the process is changed. Programs with many transfers in flight should raise the limit on open files
/// (`RLIMIT_NOFILE`) first, as the `sleeve` command does.
public final class LibraryAPI: Sendable {
    /// The version of Sleeve.
    public static let version = LibraryConfiguration.version

    /// The configuration given to `init`, with the absolute paths of its files.
    public let configuration: LibraryConfiguration
    /// The albums of the library file: list, edit, undo.
    public let albums: AlbumStore
    package let covers: CoverPipeline
    private let hub = EventHub()
    let poster: RemotePoster

    /// Opens the cache, and creates it if it is missing. Adopts the covers that a killed process left in it.
    /// - Parameter configuration: its file URLs are made absolute: a later `chdir` of the program changes nothing.
    /// - Throws: `LibraryError` if a value of the configuration is out of its range, a URL of a file is that of none, the cache directory
    ///   cannot be used, or a newer version created it.
    public init(configuration: LibraryConfiguration) async throws(LibraryError) {
        let configuration = try configuration.validated()
        self.configuration = configuration
        poster = RemotePoster(configuration)
        albums = AlbumStore(
            path: configuration.libraryFile?.relativePath ?? "", remote: try poster.remoteLibrary(),
            logger: configuration.logger
        ) { [hub] in hub.publish(.albumsChanged) }
        covers = try await CoverPipeline(configuration, hub: hub)
    }

    deinit { hub.close() }

    /// Initializes libcurl, which the first request does otherwise. It takes a millisecond, as long as opening the cache.
    package static func initializeNetwork() { HTTPClient.initialize() }

    /// Commits what has arrived, and ends the transfers and the observers' streams. Calls in progress and later ones throw.
    ///
    /// A library that is released without `close()` ends its threads and its observers' streams and releases its locks too, but covers
    /// that have not been committed are lost.
    public func close() async {
        await covers.close()
        albums.close()
        poster.close()
        hub.close()
    }

    // MARK: Covers

    /// A cover: from the cache, else downloaded and stored. Concurrent calls for one URL share a transfer.
    ///
    /// A cached cover is returned without a request, even if it is stale (`Cover.isStale`), unless its server forbids that
    /// (`must-revalidate`, `no-cache`): then the server is asked first, and the call fails if it cannot be (RFC 9111 §4.2.4). A
    /// cover that must not be stored (`no-store`) is returned but never cached: each call downloads it again. Of an album with several URLs, it is
    /// the first that is cached, else the first that can be downloaded.
    ///
    /// The request is sent before all others of the host that wait, such as those of a prefetch, unless it has another priority.
    /// Without `CoverRequest.timeout` there is no limit of the whole call. By default it ends after at most four attempts of up to 60 s for each
    /// request and redirect, with the pauses that the server asks for, each at most two minutes, and the wait for its turn; a server that does
    /// not answer costs a little over four minutes, and less once others have found that out. See <doc:Requests>.
    ///
    /// A smaller size is a baseline JPEG, turned by its Exif orientation, with alpha on white, and never enlarged. A cover that is a JPEG of this
    /// size already is returned as it is; so is one that cannot be made smaller: a GIF, AVIF, JPEG XL, HEIC, TIFF, BMP or SVG, an animation, one
    /// of more than 50 million pixels or 16,384 on a side, or one whose bytes are damaged. `mediaType` and `digest` are those of the returned bytes.
    /// - Parameters:
    ///   - cover: an http or https URL, an album, or a request.
    ///   - longestSide: of a smaller size, in pixels: one of `keptSizes`; nil for the cover as it is.
    /// - Throws: `CoverFailure`, which names every URL that was tried; of the kind `closed` when the library is closed, and `badSize` for another
    ///   size.
    public func cover(
        for cover: some CoverRequestConvertible, longestSide: Int? = nil
    ) async throws(CoverFailure) -> Cover {
        let request = cover.coverRequest
        if let longestSide { try Shelf.requireKept(longestSide, of: request.name) }
        return try await self.cover(for: request, within: longestSide)
    }

    /// A cached cover, verified, however old; nil if it is not cached. Never connects. Reads on a thread that may block.
    /// - Parameters:
    ///   - cover: a URL, an album, or a request, of which only the URLs or the digest count.
    ///   - longestSide: as that of `cover(for:longestSide:)`.
    /// - Throws: `CoverFailure` if nothing usable locates the cover, the library is closed, or the cache cannot be read.
    public func cachedCover(
        for cover: some CoverRequestConvertible, longestSide: Int? = nil
    ) async throws(CoverFailure) -> Cover? {
        let request = cover.coverRequest
        if let longestSide { try Shelf.requireKept(longestSide, of: request.name) }
        if let digest = request.digest {
            return try await covers.shelf.cachedCover(digest: digest, longestSide: longestSide)
        }
        for url in try covers.urls(of: request) {
            guard let cover = try await covers.shelf.cachedCover(url, location: url.string) else { continue }
            return try await sized(cover, within: longestSide)
        }
        return nil
    }

    /// The same on the caller's thread, which it blocks: for about 20 µs, a millisecond or more for a large cover, whose bytes are read and
    /// hashed, and some ten for a smaller size that is not kept yet. For a call outside of a task.
    /// - Throws: `CoverFailure`, as the asynchronous method does.
    public func cachedCover(
        for cover: some CoverRequestConvertible, longestSide: Int? = nil
    ) throws(CoverFailure) -> Cover? {
        let request = cover.coverRequest
        if let longestSide { try Shelf.requireKept(longestSide, of: request.name) }
        for url in try covers.urls(of: request) {
            guard let cover = try covers.shelf.cachedCover(url, location: url.string) else { continue }
            return try sized(cover, within: longestSide)
        }
        return nil
    }

    // MARK: Runs

    /// Asks servers whether cached covers are unchanged, with their validators (RFC 9111 §4.3), and downloads those that changed.
    /// Covers that cannot be checked stay cached, and count as failed. A run that ends early loses nothing: the next one continues.
    /// - Returns: the outcomes. The run starts with their iteration, or with `summary()`, which throws if the index cannot be read
    ///   or the library is offline.
    public func refresh(_ request: RefreshRequest = RefreshRequest()) -> CoverOutcomes<LibraryError> {
        CoverOutcomes { [covers] run async throws(LibraryError) in
            try await Refresher(covers, request, run).refresh()
        }
    }

    // MARK: Observing

    /// A stream of events for one observer. It ends when the library is closed or released, and does not keep it alive.
    /// - Parameter limit: number of events that the observer may fall behind. Beyond it, events are dropped and counted in one
    ///   `missed`; an observer never slows the library.
    public func events(limit: Int = 1_024) -> AsyncStream<LibraryEvent> { hub.events(limit: limit) }

    // MARK: The cache

    /// The size and the use of the cache.
    /// - Throws: `LibraryError` if the index cannot be read.
    public func statistics() async throws(LibraryError) -> CacheStatistics {
        try await reading(committed: true) { try $0.statistics() }
    }

    /// Evicts the least recently used covers until at most `bytes` are charged. Pinned covers stay.
    /// - Parameters:
    ///   - bytes: The capacity to evict to, in bytes.
    ///   - isDryRun: Count what would be evicted, and evict nothing.
    /// - Throws: `LibraryError` if the index cannot be written.
    @discardableResult
    public func evict(to bytes: Int, dryRun isDryRun: Bool = false) async throws(LibraryError) -> EvictionSummary {
        if isDryRun { return try await reading(committed: true) { try $0.evictable(to: bytes) } }
        await covers.shelf.flushUsage()
        return try await maintain { try $0.evict(to: bytes) }
    }

    /// How many covers this library has evicted again, to make room for others, of those stored since it was opened.
    /// - Throws: `LibraryError` if the index cannot be written.
    package func evictedNewCovers() async throws(LibraryError) -> Int { try await maintain { $0.evictedNewCovers } }

    /// Runs `body` with the cache on the disk thread, everything committed.
    package func maintain<Result: Sendable>(
        _ body: @Sendable (CacheWriter) throws -> Result
    ) async throws(LibraryError) -> Result {
        do {
            return try await covers.persistency.withWriter(body)
        } catch {
            throw LibraryError(error)
        }
    }
}

extension LibraryAPI {
    /// Runs `body` with a library for tests: its cache is in a new temporary folder, its requests go to `transport`, and nothing is retried.
    /// Closes it and removes the folder afterwards.
    /// - Parameters:
    ///   - transport: what answers in place of servers.
    ///   - isolation: of `body`: the caller's.
    ///   - configure: changes the configuration before the library opens.
    ///   - body: uses the library.
    /// - Throws: `LibraryError` if the folder cannot be used, or the error of `body`.
    public static func withTemporaryLibrary<Result>(
        transport: any CoverTransport, isolation: isolated (any Actor)? = #isolation,
        configure: (inout LibraryConfiguration) -> Void = { _ in }, _ body: (LibraryAPI) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sleeve-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = LibraryConfiguration(
            cacheDirectory: folder.appending(path: "cache"), libraryFile: folder.appending(path: "albums.json"))
        (configuration.transport, configuration.retries) = (transport, 0)
        configure(&configuration)
        let library = try await LibraryAPI(configuration: configuration)
        let result = try await library.closingOnError { try await body(library) }
        await library.close()
        return result
    }

    /// Runs `body`, and closes the library if that throws.
    package func closingOnError<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            await close()
            throw error
        }
    }
}

/// Documents that are no covers, such as the answers of services that are searched for covers. They are not cached.
extension LibraryAPI {
    /// A response to a GET, whatever its status.
    package struct Document: Sendable {
        package let status: Int
        /// What `Retry-After` asks for.
        package let retryAfter: Duration?
        /// Empty for a status other than 2xx.
        package let body: [UInt8]
    }

    /// Requests a document with the configuration's client: its `User-Agent`, timeout, redirects and refused addresses apply. It is sent
    /// immediately and once; the caller limits and retries.
    /// - Parameters:
    ///   - maximumSize: the longest body that is accepted, in bytes.
    ///   - authorization: the value of the field `Authorization`; nil for none. With one, a redirect to another origin is the response.
    /// - Throws: `CoverFailure` if there is no response, the body is too long, or the library is offline or closed.
    package func document(
        at url: String, maximumSize: Int, authorization: String? = nil
    ) async throws(CoverFailure) -> Document {
        let location = try HTTPURL(location: url, ignoring: [])
        if configuration.isOffline { throw CoverFailure(.offline, url: url, detail: "offline") }
        if covers.isClosed { throw .closed(url) }
        let response: TransferResponse
        do {
            response = try await poster.response(to: location, authorization: authorization)
        } catch let failure as CoverFailure {
            throw failure
        } catch let error as TransferError {
            throw CoverFailure(error)
        } catch {
            throw CoverFailure(.connect, url: url, detail: "\(error)")
        }
        guard response.body.count <= maximumSize else {
            throw CoverFailure(.tooLarge, url: url, detail: "larger than \(ByteCount(maximumSize))")
        }
        return Document(
            status: response.head.status.code,
            retryAfter: RetryAfter.delay(response.head.headerFields, now: WallClock.milliseconds() / 1_000),
            body: response.body)
    }
}

/// The requests of a library that are not for covers: edits that are posted to its remote library, and documents that a command reads.
/// Starts libcurl with the first one.
final class RemotePoster: Sendable {
    private let configuration: LibraryConfiguration
    private let client = Mutex<HTTPClient?>(nil)

    init(_ configuration: LibraryConfiguration) { self.configuration = configuration }

    /// The remote library of the configuration; nil if it has none.
    /// - Throws: `LibraryError` if its URL cannot be used.
    func remoteLibrary() throws(LibraryError) -> RemoteLibrary? {
        guard let url = configuration.remote?.absoluteString else { return nil }
        if url.contains("?") {
            throw .invalidConfiguration("cannot use the remote library's URL: remove its query (?…)")
        }
        do throws(HTTPURL.Problem) {
            return RemoteLibrary(url: try HTTPURL(url).string) { await self.post($0, Array($1.utf8), key: $2) }
        } catch {
            throw .invalidConfiguration("cannot use the remote library's URL: \(error)")
        }
    }

    private func post(_ url: String, _ body: [UInt8], key: String) async -> RemoteLibrary.Response {
        guard let url = try? HTTPURL(url), let name = HTTPField.Name("Idempotency-Key") else {
            return .unreachable("its URL cannot be used")
        }
        // No redirect is followed: a redirected POST would become a GET (RFC 9110 section 15.4).
        let request = TransferRequest(
            url: url,
            headerFields: [
                .accept: "application/json", .contentType: "application/json", .userAgent: configuration.userAgent,
                name: "\"\(key)\"",
            ], post: body)
        do {
            return .status(try await startedClient().response(for: request).head.status.code)
        } catch {
            return .unreachable((error as? TransferError).map { CoverFailure($0).detail } ?? "\(error)")
        }
    }

    /// Sends a GET and returns the last response, after redirects. Credentials are for one origin: a redirect to another one is not followed.
    func response(to url: HTTPURL, authorization: String?) async throws -> TransferResponse {
        let fields = authorization.map { [.authorization: $0] } ?? [:] as HTTPFields
        var (request, redirects) = (TransferRequest(url: url, headerFields: fields), 0)
        while true {
            let response = try await startedClient().response(for: request)
            let next = RedirectPolicy.decide(
                response, of: url, at: request.url, redirectCount: redirects,
                allowsDowngrades: configuration.allowsDowngrades)
            guard let next, try authorization == nil || next.get().origin == url.origin else { return response }
            (request.url, request.cookies) = (try next.get(), response.cookies)
            redirects += 1
        }
    }

    private func startedClient() throws -> HTTPClient {
        try client.withLock { client in
            let started = try client ?? configuration.makeClient()
            client = started
            return started
        }
    }

    func close() { client.withLock { $0 }?.loop.shutdown() }
}
