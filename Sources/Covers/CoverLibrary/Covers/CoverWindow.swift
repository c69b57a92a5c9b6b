public import CoverFetch
import CurlHTTP
import Platform
import Synchronization

/// A window on covers, for a view that shows some of many: a scroller, a wall. What is shown in it is downloaded ahead of all other requests,
/// the first of it first. What is no longer shown is given up, unless it is on its way.
///
/// ```swift
/// let window = library.window(of: Album.ID.self)
/// window.show(visible.map { ($0.id, $0) })       // again with each scroll
/// for await arrival in window.arrivals {
///     tile(of: arrival.id)?.picture = try? await arrival.cover(longestSide: 300)
/// }
/// ```
public final class CoverWindow<ID: Hashable & Sendable>: Sendable {
    /// How the request for a shown cover ended.
    public struct Arrival: Sendable {
        /// What the view calls the cover.
        public let id: ID
        /// Nothing but `fresh` or `joined` for a cover that was cached.
        public let outcome: CoverOutcome
        fileprivate let covers: CoverPipeline

        /// The cover, read from the cache: also one whose server forbids storing it.
        /// - Parameter longestSide: one of `LibraryAPI.keptSizes`, for a smaller size as `LibraryAPI.cover(for:longestSide:)` describes it; nil for
        ///   the cover as it is.
        /// - Throws: `CoverFailure`: that of the outcome, or if the cache cannot be read or has evicted the cover since.
        public func cover(longestSide: Int? = nil) async throws(CoverFailure) -> Cover {
            if let longestSide { try Shelf.requireKept(longestSide, of: outcome.url) }
            if let failure = outcome.failure, outcome.bodyIfNotStored == nil { throw failure }
            let url = try covers.key(outcome.url)
            if let cover = outcome.unstoredCover(url) {
                return longestSide.map { cover.resized(longestSide: $0) } ?? cover
            }
            var found: Cover?
            if let longestSide, let digest = outcome.contentDigest {
                found = try await covers.shelf.cover(digest, longestSide: longestSide)
                // Other URLs may have the same bytes.
                found?.url = URL(key: url.string)
                found?.key = url.string
            } else {
                found = try await covers.shelf.cachedCover(url, location: outcome.url)
            }
            guard let found else {
                throw CoverFailure(.cache, url: outcome.url, detail: "evicted since it arrived")
            }
            return found
        }
    }

    /// One shown cover.
    private final class Slot: OutcomeSink {
        let id: ID
        let view: View
        init(_ id: ID, _ view: View) { (self.id, self.view) = (id, view) }

        var isWanted: Bool { view.state.withLock { $0.shown[id]?.slot === self } }

        func take(_ outcome: CoverOutcome, of ask: Ask) { view.end(self, outcome) }
    }

    /// What a view shows.
    private struct State {
        /// Each with its request and its key, and its slot until it has ended.
        var shown: [ID: (request: CoverRequest, key: String, slot: Slot?)] = [:]
        /// The keys of those that have not ended, the most wanted first.
        var order: [String] = []
        /// Those of the shown that have arrived and were not read.
        var arrived: Deque<(id: ID, outcome: CoverOutcome)> = []
        var isClosed = false
    }

    private final class View: Sendable {
        let state = Mutex(State())
        let changed = Signal()

        func end(_ slot: Slot, _ outcome: CoverOutcome) {
            state.withLock { state in
                guard state.shown[slot.id]?.slot === slot else { return }
                state.shown[slot.id]?.slot = nil
                state.arrived.append((slot.id, outcome))
            }
            changed.send()
        }

        /// Nil at the end.
        func next() async -> (id: ID, outcome: CoverOutcome)? {
            while true {
                if Task.isCancelled { return nil }
                if let arrival = state.withLock({ $0.arrived.popFirst() }) { return arrival }
                guard await changed.wait() else { return nil }
            }
        }

        /// - Returns: the slots that have not ended.
        func close() -> [Slot] {
            defer { changed.finish() }
            return state.withLock { state in
                defer { (state.shown, state.arrived, state.isClosed) = ([:], [], true) }
                return state.shown.values.compactMap(\.slot)
            }
        }
    }

    /// One arrival for each cover that is shown, for one reader. What is no longer shown when its turn comes is left out, so no more wait to be read
    /// than are shown. It ends with the window or its library.
    public let arrivals: AsyncStream<Arrival>
    private let view: View
    private let covers: CoverPipeline

    init(_ covers: CoverPipeline) {
        let view = View()
        (self.view, self.covers) = (view, covers)
        arrivals = AsyncStream {
            await view.next().map { Arrival(id: $0.id, outcome: $0.outcome, covers: covers) }
        }
        covers.beginRun(ObjectIdentifier(view)) { [weak view] in _ = view?.close() }
    }

    deinit { close() }

    /// Gives up what is shown, and ends `arrivals`. A window that is no longer used does so itself.
    public func close() {
        for slot in view.close() { covers.cancelAsks(of: slot) }
        covers.endRun(ObjectIdentifier(view))
    }

    /// Replaces what is shown. Requests of ids that were shown before go on. One that has ended is asked for again if its request differs, or once
    /// it was not shown.
    /// - Parameter covers: URLs, albums or requests, the most wanted first. Priorities do not count.
    public func show<Cover: CoverRequestConvertible>(_ covers: some Sequence<(ID, Cover)>) {
        show(covers.map { (id: $0, request: $1.coverRequest) })
    }

    private func show(_ requests: [(id: ID, request: CoverRequest)]) {
        let ids = Set(requests.map(\.id))
        var asks: [Ask] = []
        let (isChanged, gone) = view.state.withLock { state in
            if state.isClosed { return (false, [String]()) }
            state.arrived.removeAll { !ids.contains($0.id) }
            let gone = state.shown.filter { !ids.contains($0.key) }
            for id in gone.keys { state.shown[id] = nil }
            for (id, request) in requests {
                if let known = state.shown[id], known.slot != nil || known.request == request { continue }
                let slot = Slot(id, view)
                do throws(CoverFailure) {
                    let ask = try covers.ask(request, for: slot)
                    (ask.priority, ask.keepsUnstored) = (.immediate, true)
                    asks.append(ask)
                    state.shown[id] = (request, ask.url.string, slot)
                } catch {
                    state.shown[id] = (request, "", nil)
                    state.arrived.append((id, CoverOutcome(failed: error)))
                }
            }
            let before = state.order
            state.order = requests.compactMap { state.shown[$0.id] }.filter { $0.slot != nil }.map(\.key)
            return (state.order != before, gone.values.filter { $0.slot != nil }.map(\.key))
        }
        view.changed.send()
        if asks.isEmpty, gone.isEmpty, !isChanged { return }
        Task { [covers, view, asks] in
            await covers.submit(asks, order: { view.state.withLock { $0.order } }, withdrawing: gone)
        }
    }
}

extension CoverPipeline {
    /// Asks for covers that are not cached, ahead of all others.
    /// - Parameters:
    ///   - order: keys of the covers that are outstanding, by falling priority. Unsent requests are reordered accordingly.
    ///   - withdrawn: keys of asks that are no longer wanted. They are cancelled unless they are in flight.
    fileprivate func submit(
        _ asks: [Ask], order: @Sendable () -> [String], withdrawing withdrawn: [String]
    ) async {
        // What has left the view waits for no look-up.
        if !withdrawn.isEmpty {
            await startedScheduler?.submit([], order: order, withdrawing: withdrawn) { !$0.sink.isWanted }
        }
        let missing = await self.missing(among: asks)
        do throws(LibraryError) {
            try await scheduler().submit(missing, order: order, withdrawing: []) { !$0.sink.isWanted }
        } catch {
            for ask in missing { ask.fail(error, isClosed: isClosed) }
        }
    }
}
