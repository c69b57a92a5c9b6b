public import CoverFetch
import CurlHTTP
import Synchronization

/// A window on covers, for a view that shows some of many: a scroller, a wall. What is shown in it is downloaded ahead of all other requests,
/// the first of it first. What is no longer shown is given up, unless it is on its way.
///
/// ```swift
/// let window = library.window(of: Album.ID.self)
/// window.show(visible.map { ($0.id, CoverRequest(album: $0)) })       // again with each scroll
/// for await arrival in window.arrivals { show(arrival.outcome, at: arrival.id) }
/// ```
public final class CoverWindow<ID: Hashable & Sendable>: Sendable {
    /// How the request for a shown cover ended.
    public struct Arrival: Sendable {
        /// What the view calls the cover.
        public let id: ID
        /// Nothing but `fresh` or `joined` for a cover that was cached.
        public let outcome: CoverOutcome
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
    }

    private final class View: Sendable {
        let state = Mutex(State())
        let continuation: AsyncStream<Arrival>.Continuation

        init(_ continuation: AsyncStream<Arrival>.Continuation) { self.continuation = continuation }

        func end(_ slot: Slot, _ outcome: CoverOutcome) {
            let isShown = state.withLock { state in
                guard state.shown[slot.id]?.slot === slot else { return false }
                state.shown[slot.id]?.slot = nil
                return true
            }
            if isShown { continuation.yield(Arrival(id: slot.id, outcome: outcome)) }
        }
    }

    /// One arrival for each cover that was shown, unless it was given up before. For one reader. It ends with the window.
    public let arrivals: AsyncStream<Arrival>
    private let view: View
    private let covers: CoverPipeline

    init(_ covers: CoverPipeline) {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Arrival.self)
        (self.arrivals, view, self.covers) = (arrivals, View(continuation), covers)
    }

    deinit {
        view.continuation.finish()
        for slot in view.state.withLock({ $0.shown.values.compactMap(\.slot) }) { covers.cancelAsks(of: slot) }
    }

    /// Replaces what is shown. Requests of ids that were shown before go on. One that has ended is asked for again if its request differs, or once
    /// it was not shown.
    /// - Parameter requests: the most wanted first. Their priorities do not count.
    public func show(_ requests: [(id: ID, request: CoverRequest)]) {
        let ids = Set(requests.map(\.id))
        var asks: [Ask] = []
        let (isChanged, gone) = view.state.withLock { state in
            let gone = state.shown.filter { !ids.contains($0.key) }
            for id in gone.keys { state.shown[id] = nil }
            for (id, request) in requests {
                if let known = state.shown[id], known.slot != nil || known.request == request { continue }
                let slot = Slot(id, view)
                do throws(CoverFailure) {
                    let ask = try covers.ask(request, for: slot)
                    ask.priority = .immediate
                    asks.append(ask)
                    state.shown[id] = (request, ask.url.string, slot)
                } catch {
                    state.shown[id] = (request, "", nil)
                    view.continuation.yield(Arrival(id: id, outcome: CoverOutcome(failed: error)))
                }
            }
            let before = state.order
            state.order = requests.compactMap { state.shown[$0.id] }.filter { $0.slot != nil }.map(\.key)
            return (state.order != before, gone.values.filter { $0.slot != nil }.map(\.key))
        }
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
        let missing = await self.missing(among: asks)
        do throws(LibraryError) {
            try await scheduler().submit(missing, order: order, withdrawing: withdrawn) { !$0.sink.isWanted }
        } catch {
            for ask in missing { ask.fail(error, isClosed: isClosed) }
        }
    }
}
