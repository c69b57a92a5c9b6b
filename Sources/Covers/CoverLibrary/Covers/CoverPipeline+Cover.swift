import CoverFetch
import CurlHTTP
import ImageHeader
import Platform
import Synchronization

/// One cover for one caller.
extension CoverPipeline {
    /// The cover from the cache, or downloaded.
    func cover(for request: CoverRequest) async throws(CoverFailure) -> Cover {
        if let digest = request.digest {
            if request.cachePolicy.use.asksServer { throw .withoutServer(request) }
            guard let cover = try await shelf.cachedCover(digest: digest) else { throw .notCached(request) }
            return cover
        }
        let caller = Caller()
        let ask = try ask(request, for: caller)
        (ask.isForUse, ask.priority) = (true, request.priority?.order ?? .immediate)
        if isClosed { throw .closed(ask.location) }
        if !ask.cacheUse.asksServer {
            let stored = try await storedCover(of: ask)
            hub.instruments.didLookUp(hits: stored == nil ? 0 : 1, misses: stored == nil ? 1 : 0)
            if let stored { return stored }
        }
        let outcome = try await traced(
            "sleeve.transfer", url: ask.url.string, isClient: true, status: { $0.responseStatus }
        ) { () async throws(CoverFailure) in
            let outcome = await caller.outcome(of: ask, self)
            if var failure = outcome.failure, outcome.bodyIfNotStored == nil {
                if ask.stored != nil, !ask.cacheUse.asksServer, ![.offline, .notCached].contains(failure.kind) {
                    failure.detail += "; \(Staleness.reason)"
                }
                throw failure
            }
            return outcome
        }
        let url = try key(outcome.url)
        if let cover = outcome.unstoredCover(url) { return cover }
        if let (entry, body) = try await shelf.cachedEntry(url, location: outcome.url) {
            return Cover(entry, body, isNew: outcome.date != nil)
        }
        throw CoverFailure(
            .cache, url: outcome.url, detail: "evicted as soon as it was stored: the capacity is too small")
    }

    /// The stored cover of the first address that has one; nil if its server has to be asked first. A person's picture that the cache has lost, or
    /// whose copy is damaged, is copied again.
    private func storedCover(of ask: Ask) async throws(CoverFailure) -> Cover? {
        for (location, url) in ask.addresses {
            var found = try await shelf.cachedEntry(url, location: location)
            if found == nil, await restorePictures([location]) {
                found = try await shelf.cachedEntry(url, location: location)
            }
            if let (entry, body) = found { return mayUse(entry, for: ask) ? Cover(entry, body) : nil }
        }
        return nil
    }
}

extension CoverOutcome {
    /// The cover, if its server forbids storing it.
    func unstoredCover(_ url: HTTPURL) -> Cover? {
        bodyIfNotStored.flatMap { body in
            body.withUnsafeBytes { ImageHeader($0) }.map { Cover(url.string, $0, body) }
        }
    }
}

/// A call for one cover, which waits for its outcome. Cancelling its task cancels the ask.
final class Caller: OutcomeSink {
    private struct State {
        var isCancelled = false
        /// The service that asks shuts down.
        var isClosing = false
        var origin: AskOrigin?
        var continuation: CheckedContinuation<CoverOutcome, Never>?
    }

    private let state = Mutex(State())

    var isWanted: Bool { state.withLock { !$0.isCancelled && !$0.isClosing } }

    var origin: AskOrigin? { state.withLock { $0.origin } }

    func outcome(of ask: Ask, _ pipeline: CoverPipeline) async -> CoverOutcome {
        state.withLock { $0.origin = pipeline.currentOrigin() }
        return await withTaskCancellationHandler {
            await withShutdownHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.continuation = continuation }
                    Task { await pipeline.submit(ask) }
                }
            } onShutdown: {
                self.state.withLock { $0.isClosing = true }
                pipeline.windDown(self)
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
            pipeline.cancelAsks(of: self)
        }
    }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        let (continuation, isClosing) = state.withLock { ($0.continuation.take(), $0.isClosing && !$0.isCancelled) }
        var outcome = outcome
        if isClosing, outcome.failure?.kind == .cancelled { outcome.failure = .closed(ask.location) }
        continuation?.resume(returning: outcome)
    }
}
