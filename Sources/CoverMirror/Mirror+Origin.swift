import CoverCache
import CoverLibrary
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform
import ServerChannels
import Synchronization

/// GET and HEAD requests that need the origin.
extension Mirror {
    /// Asks the origin, and answers from its response.
    /// - Parameters:
    ///   - cached: the response to validate; nil to fetch.
    ///   - ifError: `cached` may be served if the origin fails.
    func fetched(
        _ request: MirrorRequest, _ url: HTTPURL, _ cached: CachedResponse?, ifError: Bool,
        _ why: CacheStatus.Forwarding, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorResponse {
        let fallback = ifError ? cached : nil
        if let fallback, await origin.mayBeUnreachable(url.string) {
            // The client gets the stale response immediately. A request in the background shows whether the origin is back.
            await origin.startFetch(of: url.string) { await self.fetchFromOrigin(request, url, fallback, nil) }
            if let response = try await staleIfError(fallback, request, .hit) { return response }
        }
        if request.method == .head { return try await headFromOrigin(request, url, cached, fallback, why, interim) }
        var status = CacheStatus.forwarded(why)
        if largeResponses.withLock({ $0.contains(url.string) }) {
            return try await streamed(request, url, fallback, status)
        }
        var (outcome, isCollapsed) = await origin.outcome(of: url.string) {
            await self.fetchFromOrigin(request, url, cached, interim)
        }
        if isCollapsed, !outcome.answers(request) {
            outcome = await fetchFromOrigin(request, url, cached, interim)
            isCollapsed = false
        }
        status.isCollapsed = isCollapsed
        switch outcome {
        case .failure(.transfer(let error)) where error.kind == .tooLarge:
            return try await streamed(request, url, fallback, status)
        case .failure(let failure):
            return try await response(to: request, after: failure, fallback, status)
        case .success(let fetched):
            if fetched.response.isServerError, let fallback {
                status.forwardStatus = fetched.response.status
                if let response = try await staleIfError(fallback, request, status) { return response }
                status.detail = "stale-if-error"
            }
            status.isStored = fetched.isStored
            let response = ConditionalResponse.make(fetched.response, body: fetched.body, for: request)
            if fetched.originStatus != response.head.status.code { status.forwardStatus = fetched.originStatus }
            return response.with(status, holding: fetched.held)
        }
    }

    /// Fetches the complete response, or validates `cached`, and stores what may be stored.
    func fetchFromOrigin(
        _ request: MirrorRequest, _ url: HTTPURL, _ cached: CachedResponse?,
        _ interim: (@Sendable (HTTPResponse) -> Void)?
    ) async -> FetchOutcome {
        var forwarded = request.forwarded(by: pseudonym)
        forwarded.method = .get
        // The complete response is fetched, so that it can be stored. The client's range and conditions are answered from it.
        for name in [HTTPField.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { forwarded.fields[name] = nil }
        if let cached { forwarded.fields.append(contentsOf: cached.response.conditions) }
        do {
            let answer = try await origin.send(forwarded, to: url, interim: interim)
            let (response, body) = (answer.response, answer.body)
            if response.status == 304, let cached {
                if let validated = try await validated(cached, by: response, request, url) {
                    return .success(validated)
                }
                // The 304 is about another response, or the body was evicted.
                return await fetchFromOrigin(request, url, nil, interim)
            }
            let isShareable = response.isStorable(request: request.directives)
            let keepsCached = response.isServerError && cached?.response.isUsefulStale == true
            var isStored = false
            if isShareable, response.isWorthStoring, !keepsCached {
                isStored = await store.store(response, body, of: url.string, requestFields: request.fields)
            } else if cached != nil, response.invalidatesStored {
                // The new response replaces the cached one, although it must not be stored (RFC 9111 section 4.3.3).
                await invalidate([url.string])
            }
            return .success(
                FetchedResponse(
                    response: response, body: body, requestFields: request.fields, isShareable: isShareable,
                    isStored: isStored, originStatus: response.status, held: answer.held))
        } catch let failure as OriginFailure {
            if case .transfer(let error) = failure, error.kind == .tooLarge {
                largeResponses.withLock { $0.insert(url.string) }
                // The cached response is outdated (RFC 9111 section 4.3.3).
                if cached != nil { await invalidate([url.string]) }
            }
            return .failure(failure)
        } catch {
            return .failure(.transfer(TransferError(.cancelled, url: url.string, detail: "\(error)")))
        }
    }

    /// Updates a cached response by a 304 (RFC 9111 section 4.3.4). Nil if the 304 is about another response, or the body was evicted.
    private func validated(
        _ cached: CachedResponse, by notModified: StoredResponse, _ request: MirrorRequest, _ url: HTTPURL
    ) async throws -> FetchedResponse? {
        guard
            let response = cached.response.updated(
                by: notModified.fields, requestTime: notModified.requestTime, responseTime: notModified.responseTime),
            case let held = await origin.responseBytes.reserve(cached.entry.bytes),
            let body = try await store.body(of: cached)
        else { return nil }
        guard let held else { throw OriginFailure.busy }
        let isStorable = response.isStorable()
        var isStored = false
        if !isStorable {
            // The 304 forbids storing, which the stored response did not (RFC 9111 section 5.2.2.5).
            await invalidate([url.string])
        } else if !request.directives.noStore {
            isStored = await store.update(cached, to: response)
        }
        return FetchedResponse(
            response: response, body: Array(body), requestFields: request.fields, isShareable: isStorable,
            isStored: isStored, originStatus: 304, held: held)
    }

    /// Forwards a HEAD. Its response updates the cached one, or shows that it is outdated (RFC 9111 section 4.3.5).
    private func headFromOrigin(
        _ request: MirrorRequest, _ url: HTTPURL, _ cached: CachedResponse?, _ fallback: CachedResponse?,
        _ why: CacheStatus.Forwarding, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorResponse {
        let status = CacheStatus.forwarded(why)
        do throws(OriginFailure) {
            let response = try await origin.send(request.forwarded(by: pseudonym), to: url, interim: interim).response
            if let cached, response.status == 200 {
                if let updated = cached.updated(byHead: response), updated.isStorable() {
                    _ = await store.update(cached, to: updated)
                    return ConditionalResponse.make(updated, body: [], length: cached.entry.bytes, for: request)
                        .with(status)
                }
                await invalidate([url.string])
            }
            return MirrorResponse(status: response.status, fields: response.fields).with(status)
        } catch {
            return try await self.response(to: request, after: error, fallback, status)
        }
    }

    /// Streams a response that is too large to store. The origin evaluates the client's range and conditions.
    private func streamed(
        _ request: MirrorRequest, _ url: HTTPURL, _ fallback: CachedResponse?, _ status: CacheStatus
    ) async throws -> MirrorResponse {
        do throws(OriginFailure) {
            let (head, body) = try await origin.stream(request.forwarded(by: pseudonym), to: url) { head, length in
                // The next request for a response that has become small enough stores it.
                if head.status == .ok, length <= self.maximumBodySize {
                    self.largeResponses.withLock { $0.remove(url.string) }
                }
            }
            var status = status
            status.detail = TransferError.Kind.tooLarge.rawValue
            return MirrorResponse(status: head.status.code, fields: head.headerFields.endToEnd, stream: body)
                .with(status)
        } catch {
            return try await response(to: request, after: error, fallback, status)
        }
    }

    // MARK: Failures

    private func response(
        to request: MirrorRequest, after failure: OriginFailure, _ fallback: CachedResponse?, _ status: CacheStatus
    ) async throws -> MirrorResponse {
        if let fallback, let response = try await staleIfError(fallback, request, status) { return response }
        return Self.generated(for: failure, status)
    }

    /// The stale response in place of the origin's. Nil if it was evicted.
    private func staleIfError(
        _ cached: CachedResponse, _ request: MirrorRequest, _ status: CacheStatus
    ) async throws -> MirrorResponse? {
        var status = status
        status.detail = "stale-if-error"
        return try await stored(cached, request, WallClock.milliseconds(), status)
    }

    /// Answers 504 if the origin did not answer (RFC 9110 section 15.6.5), 502 if its response was invalid (section 15.6.3), and 504
    /// with `Retry-After` (section 10.2.3) if it must not be asked now.
    static func generated(for failure: OriginFailure, _ status: CacheStatus) -> MirrorResponse {
        var status = status
        switch failure {
        case .transfer(let error):
            status.detail = error.kind.rawValue
            return switch error.kind {
            case .nameResolution, .connect, .timeout, .cancelled:
                .generated(504, "the origin cannot be reached: \(error.detail)", status)
            case .broken, .tls, .tooLarge, .truncated, .coding, .tooManyRedirects, .refusedAddress:
                .generated(502, "the origin's answer cannot be used: \(error.detail)", status)
            case .outOfResources: .busy("the mirror has too little memory or too few file descriptors")
            }
        case .closed(let closed):
            // No request was forwarded.
            status.forwarding = nil
            status.detail = closed.isRequested ? "retry-after" : "given-up"
            let cause =
                closed.isRequested
                ? "the origin has asked to be left alone" : "the origin has failed several times in a row"
            let seconds = max(1, Int((closed.delay / .seconds(1)).rounded(.up)))
            var response = MirrorResponse.generated(504, "\(cause); try again in \(seconds) s", status)
            response.head.headerFields[.retryAfter] = String(seconds)
            return response
        case .busy: return .busy("too many clients take their responses slowly")
        }
    }
}

extension FetchOutcome {
    /// Whether the outcome may answer a request that has waited for it.
    fileprivate func answers(_ request: MirrorRequest) -> Bool {
        switch self {
        case .failure: true
        case .success(let fetched):
            fetched.isShareable
                && Vary.matches(
                    fetched.response.fields[values: .vary], stored: fetched.requestFields, request: request.fields)
        }
    }
}
