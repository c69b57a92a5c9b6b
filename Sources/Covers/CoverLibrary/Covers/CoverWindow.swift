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

        var isWanted: Bool { view.shown.withLock { $0[id]?.slot === self } }

        func take(_ outcome: CoverOutcome, of ask: Ask) { view.end(self, outcome) }
    }

    private final class View: Sendable {
        /// What was asked for and has not ended, each with its key.
        let shown = Mutex<[ID: (slot: Slot, key: String)]>([:])
        let continuation: AsyncStream<Arrival>.Continuation

        init(_ continuation: AsyncStream<Arrival>.Continuation) { self.continuation = continuation }

        func end(_ slot: Slot, _ outcome: CoverOutcome) {
            let isShown = shown.withLock { shown in
                guard shown[slot.id]?.slot === slot else { return false }
                shown[slot.id] = nil
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
        for (slot, _) in view.shown.withLock({ Array($0.values) }) { covers.cancelAsks(of: slot) }
    }

    /// Replaces what is shown. Requests of ids that were shown before and have not ended go on.
    /// - Parameter requests: the most wanted first. Their priorities do not count.
    public func show(_ requests: [(id: ID, request: CoverRequest)]) {
        let ids = Set(requests.map(\.id))
        var asks: [Ask] = []
        let (order, gone) = view.shown.withLock { shown in
            let gone = shown.filter { !ids.contains($0.key) }
            for id in gone.keys { shown[id] = nil }
            for (id, request) in requests where shown[id] == nil {
                let slot = Slot(id, view)
                do throws(CoverFailure) {
                    let ask = try covers.ask(request, for: slot)
                    ask.priority = .immediate
                    asks.append(ask)
                    shown[id] = (slot, ask.url.string)
                } catch {
                    view.continuation.yield(Arrival(id: id, outcome: CoverOutcome(failed: error)))
                }
            }
            return (requests.compactMap { shown[$0.id]?.key }, gone.values.map(\.key))
        }
        if asks.isEmpty, gone.isEmpty, order.isEmpty { return }
        Task { [covers, asks] in await covers.submit(asks, order: order, withdrawing: gone) }
    }
}

extension CoverPipeline {
    /// Asks for covers that are not cached, ahead of all others.
    /// - Parameters:
    ///   - order: keys of the covers that are outstanding, by falling priority. Unsent requests are reordered accordingly.
    ///   - withdrawn: keys of asks that are no longer wanted. They are cancelled unless they are in flight.
    fileprivate func submit(_ asks: [Ask], order: [String], withdrawing withdrawn: [String]) async {
        let missing = await self.missing(among: await fetchFromTier(asks))
        do throws(LibraryError) {
            try await scheduler().submit(missing, order: order, withdrawing: withdrawn) { !$0.sink.isWanted }
        } catch {
            for ask in missing { ask.fail(error, isClosed: isClosed) }
        }
    }
}
