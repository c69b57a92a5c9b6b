import CoverCache
import CurlHTTP
import HTTPCaching
package import HTTPTypes
import Logging
import Platform
import Synchronization

/// A read-through HTTP cache before one origin, for programs of any language: a private cache after RFC 9111, on the library's
/// own. It is asked by a server in front of it and may be asked from any thread.
package final class Mirror: Sendable {
    let site: MirrorSite
    let shelf: MirrorShelf
    let upstream: Upstream
    private let isOffline: Bool
    private let logger: Logger
    /// By which messages that passed here are known (RFC 9110 §7.6.3).
    let pseudonym: String
    /// Of a body that is kept.
    let largestBody: Int
    let largeBodies = Mutex(LargeBodies())

    /// - Parameter clock: by which an origin that fails is left alone.
    init(
        _ library: LibraryAPI, origin: String,
        clock: @escaping @Sendable () -> OriginGate.Instant = { ContinuousClock.now }
    ) throws(LibraryError) {
        site = try MirrorSite(origin)
        shelf = MirrorShelf(library)
        let configuration = library.configuration
        upstream = Upstream(
            client: try configuration.makeClient(),
            limit: min(configuration.perHost, configuration.parallel), clock: clock)
        largestBody = configuration.maximumSize
        isOffline = configuration.isOffline
        logger = configuration.logger
        pseudonym = "sleeve-\(String(UInt32.random(in: .min ... .max), radix: 16))"
    }

    /// Ends what is on its way to the origin.
    package func close() { upstream.close() }

    /// - Parameter interim: told of 1xx responses to this very request as they come.
    package func answer(
        _ request: MirrorRequest, interim: @escaping @Sendable (HTTPResponse) -> Void = { _ in }
    ) async -> MirrorAnswer {
        var answer = await answerWithoutVia(request, interim)
        answer.head.headerFields = answer.head.headerFields.via(pseudonym)
        if request.method == .head { answer.body = [] }
        logger.debug(
            "\(request.method.rawValue) \(request.target) \(answer.head.status.code) \(answer.head.headerFields[.cacheStatus] ?? "")"
        )
        return answer
    }

    private func answerWithoutVia(
        _ request: MirrorRequest, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async -> MirrorAnswer {
        guard request.method != .connect, request.method != .trace else {
            return .own(501, "a mirror does not answer \(request.method.rawValue)")
        }
        guard let url = site.url(request.target) else {
            return .own(421, "this mirror answers for \(site.base) alone: ask for a path, such as /covers/1.jpg")
        }
        guard !request.fields[values: .via].joined().contains(pseudonym) else {
            return .own(508, "the mirror leads to itself")
        }
        var request = request
        request.fields = request.fields.endToEnd
        request.fields[.expect] = nil
        do {
            if request.isCacheable { return try await cached(request, url, interim) }
            return await passed(request, url, request.method == .get ? .bypass : .method, interim)
        } catch {
            return .own(500, "the cache cannot be read: \(error)")
        }
    }

    /// What is stored of `urls` is validated before it is used again (RFC 9111 §4.4).
    package func invalidate(_ urls: [String]) async { await shelf.invalidate(urls) }

    // MARK: GET and HEAD

    private func cached(
        _ request: MirrorRequest, _ url: HTTPURL, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorAnswer {
        let held = try shelf.held(url.string)
        let now = WallClock.milliseconds()
        switch MirrorDecision(held, for: request, at: now, isOffline: isOffline) {
        case .refuse(let held): return refusal(held, request, url)
        case .serve(let held), .serveStale(let held):
            if let answer = try await stored(held, request, now, .hit) { return answer }
        case .serveAndRevalidate(let held):
            if let answer = try await stored(held, request, now, .hit) {
                await upstream.begin(url.string) { await self.bring(request, url, held, nil) }
                return answer
            }
        case .validate(let held, let ifError, let why):
            return try await fetched(request, url, held, ifError: ifError, why, interim)
        case .fetch(let why):
            return try await fetched(request, url, nil, ifError: false, why, interim)
        }
        // Evicted or found damaged between the look and the reading.
        if isOffline || request.directives.onlyIfCached { return .own(504, "gone from the cache", .own("evicted")) }
        return try await fetched(request, url, nil, ifError: false, .uriMiss, interim)
    }

    /// The origin is not to be asked, and the cache cannot answer alone. - Parameter held: what is there, but too old.
    private func refusal(_ held: HeldResponse?, _ request: MirrorRequest, _ url: HTTPURL) -> MirrorAnswer {
        if request.directives.onlyIfCached {
            let what = held == nil ? "not in the cache" : "its copy in the cache is stale"
            return .own(504, "\(what), and only the cache was to be asked (only-if-cached)", .own("only-if-cached"))
        }
        let why = held.map { $0.offlineRefusal(url.string) } ?? CoverFailure.offline(url.string).detail
        return .own(504, why, .own("offline"))
    }

    /// The answer from the cache; nil when it is gone.
    func stored(
        _ held: HeldResponse, _ request: MirrorRequest, _ now: Int64, _ status: CacheStatus
    ) async throws -> MirrorAnswer? {
        var status = status
        let age = held.response.age(at: now)
        status.timeToLive = (held.response.directives.noCache ? 0 : held.response.lifetime) / 1_000 - age / 1_000
        let isHead = request.method == .head
        guard let body = isHead ? [] : try await shelf.body(of: held) else { return nil }
        return Presentation.answer(
            held.response, body: body, length: isHead ? held.entry.bytes : nil, to: request, age: age / 1_000
        ).with(status)
    }

    // MARK: All else

    /// Hands a request on, and its answer back.
    private func passed(
        _ request: MirrorRequest, _ url: HTTPURL, _ why: CacheStatus.Forwarding,
        _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async -> MirrorAnswer {
        var status = CacheStatus.forwarded(why)
        if isOffline { return .own(504, "the mirror is offline", .own("offline")) }
        do throws(OriginFailure) {
            let (response, body) = try await upstream.exchange(
                url, request.forwarded(by: pseudonym), interim: interim)
            // RFC 9111 §4.4: what a request has changed is not to be found here as it was.
            if !request.isSafe, (200..<400).contains(response.status) {
                await invalidate([url.string] + site.named(by: response.fields, of: url))
            }
            if request.method == .post, response.answersGet(of: url, site),
                response.isStorable(request: request.directives)
            {
                status.isStored = await shelf.keep(response, body, of: url.string, asked: request.fields)
            }
            var fields = response.fields
            if ![204, 304].contains(response.status), request.method != .head {
                fields[.contentLength] = String(body.count)
            }
            return MirrorAnswer(status: response.status, fields: fields, body: Array(body.bytes)[...]).with(status)
        } catch {
            return Self.problem(error, status)
        }
    }
}

extension MirrorAnswer {
    /// Each cache adds its member at the end (RFC 9211 §2).
    func with(_ status: CacheStatus) -> MirrorAnswer {
        var answer = self
        answer.head.headerFields.append(HTTPField(name: .cacheStatus, value: status.text))
        return answer
    }
}

extension HeldResponse {
    /// Why it is not given offline.
    fileprivate func offlineRefusal(_ url: String) -> String {
        if isInvalid { return "offline, and a request that may have changed it has passed since it was stored" }
        if !response.isWorthKeepingStale {
            return "offline, and its server's last word, \(response.status), is too old"
        }
        return CoverFailure.staleOffline(url).detail
    }
}

extension MirrorRequest {
    func forwarded(by pseudonym: String) -> MirrorRequest {
        var request = self
        request.fields = fields.via(pseudonym)
        // libcurl writes these itself.
        request.fields[.contentLength] = nil
        request.fields[HTTPField.Name("Host")!] = nil
        return request
    }
}

extension StoredResponse {
    /// Whether the answer to a POST is what a GET would bring (RFC 9110 §9.3.3).
    fileprivate func answersGet(of url: HTTPURL, _ site: MirrorSite) -> Bool {
        guard status == 200, directives.maxAge != nil || fields.contains(.expires),
            let location = fields[.contentLocation]
        else { return false }
        return site.resolve(location, against: url) == url
    }
}
