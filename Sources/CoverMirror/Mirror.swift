import CoverCache
package import CoverLibrary
import CurlHTTP
import HTTPCaching
package import HTTPTypes
import Logging
import Platform
import ServerChannels
import Synchronization

/// A read-through HTTP cache of one origin: a private cache (RFC 9111) whose store is the library's cache.
package final class Mirror: Sendable {
    let library: LibraryAPI
    let site: MirrorSite
    let store: ResponseStore
    let origin: OriginClient
    let largeResponses = Mutex(LargeResponses())
    let clock: @Sendable () -> ContinuousClock.Instant
    /// The largest body that is stored, in bytes.
    let maximumBodySize: Int
    /// The mirror's name in `Via` (RFC 9110 section 7.6.3).
    let pseudonym = "sleeve-\(String(UInt32.random(in: .min ... .max), radix: 16))"
    private let isOffline: Bool
    private let logger: Logger

    /// The limit of the bodies that are held for clients, in bytes.
    private static let maximumHeldBytes = 256 << 20
    /// How long a response waits for memory.
    private static let memoryTimeout = Duration.seconds(30)

    /// A mirror of the URLs under `origin`. If the library is offline, it answers from the cache only. Close it before the library.
    /// - Parameter clock: decides when an origin that failed is asked again, and when a client has stalled.
    /// - Throws: `LibraryError` if `origin` is no such URL, or no descriptor is left.
    package init(
        of origin: String, in library: LibraryAPI,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) throws(LibraryError) {
        let configuration = library.configuration
        self.library = library
        site = try MirrorSite(origin, ignoring: library.configuration.ignoredParameters)
        store = ResponseStore(library)
        self.clock = clock
        self.origin = OriginClient(
            client: try configuration.makeClient(), limit: min(configuration.perHost, configuration.parallel),
            responseBytes: ByteBudget(limit: Self.maximumHeldBytes, timeout: Self.memoryTimeout), clock: clock)
        maximumBodySize = configuration.maximumSize
        isOffline = configuration.isOffline
        logger = configuration.logger
    }

    var responseBytes: ByteBudget { origin.responseBytes }
    /// The bytes of bodies that are held for clients now.
    var heldBytes: Int { responseBytes.used }

    /// Cancels all requests to the origin.
    package func close() { origin.close() }

    /// - Parameter interim: called with each 1xx response to this request.
    package func response(
        to request: MirrorRequest, interim: @escaping @Sendable (HTTPResponse) -> Void = { _ in }
    ) async -> MirrorResponse {
        var response = await responseWithoutVia(to: request, interim)
        response.head.headerFields = response.head.headerFields.withoutGalleryCookies.via(pseudonym)
        if request.method == .head { response.body = [] }
        logger.debug(
            "\(request.method.rawValue) \(request.target) \(response.head.status.code) \(response.head.headerFields[.cacheStatus] ?? "")"
        )
        return response
    }

    private func responseWithoutVia(
        to request: MirrorRequest, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async -> MirrorResponse {
        guard request.method != .connect, request.method != .trace else {
            return .generated(501, "a mirror does not answer \(request.method.rawValue)")
        }
        guard let url = site.url(request.target) else {
            return .generated(421, "this mirror answers for \(site.base) alone: ask for a path, such as /covers/1.jpg")
        }
        guard !request.fields[values: .via].joined().contains(pseudonym) else {
            return .generated(508, "the mirror leads to itself")
        }
        var request = request
        request.fields = request.fields.endToEnd.withoutGalleryCredentials
        request.fields[.expect] = nil
        do {
            if let response = try await sizeResponse(to: request) { return response }
            if request.isCacheable { return try await cachedOrFetched(request, url, interim) }
            return await forwarded(request, url, request.method == .get ? .bypass : .method, interim)
        } catch {
            return .generated(500, "the cache cannot be read: \(error)")
        }
    }

    /// Marks the responses to `urls` invalid: they are validated before they are used again (RFC 9111 section 4.4).
    package func invalidate(_ urls: [String]) async { await store.invalidate(urls) }

    // MARK: GET and HEAD

    private func cachedOrFetched(
        _ request: MirrorRequest, _ url: HTTPURL, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorResponse {
        var responses = try store.responses(to: url.string)
        if responses.isEmpty, await library.fetchFromTier(url.string) {
            responses = try store.responses(to: url.string)
        }
        let now = WallClock.milliseconds()
        switch MirrorDecision(responses, for: request, at: now, isOffline: isOffline) {
        case .refuse(let cached): return refusal(cached, request)
        case .serve(let cached), .serveStale(let cached):
            if let response = try await stored(cached, request, now, .hit) { return response }
        case .serveAndRevalidate(let cached):
            if let response = try await stored(cached, request, now, .hit) {
                await origin.startFetch(of: url.string) { await self.fetchFromOrigin(request, url, cached, nil) }
                return response
            }
        case .validate(let cached, let ifError, let why):
            return try await fetched(request, url, cached, ifError: ifError, why, interim)
        case .fetch(let why):
            return try await fetched(request, url, nil, ifError: false, why, interim)
        }
        // The entry was evicted or found damaged after the decision.
        if isOffline || request.directives.onlyIfCached {
            return .generated(504, "gone from the cache", .generated("evicted"))
        }
        return try await fetched(request, url, nil, ifError: false, .uriMiss, interim)
    }

    /// Answers 504, as the origin must not be asked. - Parameter cached: the response in the cache, if it must not be served.
    private func refusal(_ cached: CachedResponse?, _ request: MirrorRequest) -> MirrorResponse {
        if request.directives.onlyIfCached {
            let cause = cached == nil ? "not in the cache" : "its copy in the cache is stale"
            return .generated(
                504, "\(cause), and only the cache was to be asked (only-if-cached)", .generated("only-if-cached"))
        }
        let cause: String
        switch cached {
        case nil: cause = "not in the cache, and offline"
        case let cached? where cached.isInvalid:
            cause = "offline, and a request that may have changed it has passed since it was stored"
        case let cached? where !cached.response.isUsefulStale:
            cause = "offline, and its server's last word, \(cached.response.status), is too old"
        default: cause = "offline, and \(Staleness.reason)"
        }
        return .generated(504, cause, .generated("offline"))
    }

    /// The response from the cache, or 503 if there is no memory for it. Nil if it was evicted.
    func stored(
        _ cached: CachedResponse, _ request: MirrorRequest, _ now: Int64, _ status: CacheStatus
    ) async throws -> MirrorResponse? {
        let freshness = cached.response.freshness
        let age = freshness.age(at: now)
        var status = status
        status.timeToLive = (freshness.directives.noCache ? 0 : freshness.lifetime) / 1_000 - age / 1_000
        let isHead = request.method == .head
        guard let held = await origin.responseBytes.reserve(isHead ? 0 : cached.entry.bytes) else {
            return .busy("too many clients take their responses slowly")
        }
        guard let body = isHead ? [] : try await store.body(of: cached) else { return nil }
        return ConditionalResponse.make(
            cached.response, body: body, length: isHead ? cached.entry.bytes : nil, for: request, age: age / 1_000
        ).with(status, holding: held)
    }

    // MARK: Other requests

    /// Forwards a request without using the cache.
    private func forwarded(
        _ request: MirrorRequest, _ url: HTTPURL, _ why: CacheStatus.Forwarding,
        _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async -> MirrorResponse {
        var status = CacheStatus.forwarded(why)
        if isOffline { return .generated(504, "the mirror is offline", .generated("offline")) }
        do throws(OriginFailure) {
            let answer = try await origin.send(request.forwarded(by: pseudonym), to: url, interim: interim)
            let (response, body) = (answer.response, answer.body)
            // A successful unsafe request invalidates what it may have changed (RFC 9111 section 4.4).
            if !request.isSafe, (200..<400).contains(response.status) {
                await invalidate([url.string] + site.locations(in: response.fields, of: url))
            }
            if request.method == .post, answersGet(response, of: url), response.isStorable(request: request.directives)
            {
                status.isStored = await store.store(response, body, of: url.string, requestFields: request.fields)
            }
            var fields = response.fields
            if ![204, 304].contains(response.status), request.method != .head {
                fields[.contentLength] = String(body.count)
            }
            return MirrorResponse(status: response.status, fields: fields, body: body[...])
                .with(status, holding: answer.held)
        } catch {
            return Self.generated(for: error, status)
        }
    }

    /// Whether the response to a POST is also the response to a GET (RFC 9110 section 9.3.3).
    private func answersGet(_ response: StoredResponse, of url: HTTPURL) -> Bool {
        guard response.status == 200, response.freshness.isExplicit, let location = response.fields[.contentLocation]
        else { return false }
        return site.resolve(location, against: url) == url
    }
}
