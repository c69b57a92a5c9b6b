import CoverFetch
import CurlHTTP
import Synchronization

/// Downloads covers again that may be another's (`SuspectCovers`), for whoever asked for them. One for a library.
///
/// The runs have counted them. The next run that ends corrects its counts: mostly it is the only one.
final class Recheck: OutcomeSink {
    /// What a cover turned out to be.
    struct Correction: Sendable {
        var former: CoverOutcome
        /// Its URL is the one that was requested.
        var outcome: CoverOutcome
    }

    private struct State {
        /// How covers ended that are asked for again, by key.
        var former: [String: CoverOutcome] = [:]
        var corrections: [Correction] = []
        /// The number of suspects, by their host.
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let drainedSignal = Signal()

    /// Makes the asks for covers again.
    /// - Parameter former: how each ended.
    func asks(for covers: [(cover: RequestedCover, former: CoverOutcome)]) -> [Ask] {
        state.withLock { state in
            covers.compactMap { cover, former in
                // Another connection may have carried it as well.
                if state.former.updateValue(former, forKey: cover.url.string) != nil { return nil }
                let ask = Ask(cover.url, location: cover.url.requestURL, sink: self)
                ask.cacheUse = .ignoreAbsence
                ask.deniesPrivateAddresses = cover.deniesPrivateAddresses
                if !cover.headerFields.isEmpty { ask.ownFields = (cover.headerFields, String(cover.url.origin)) }
                return ask
            }
        }
    }

    var isWanted: Bool { true }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        let isDrained = state.withLock { state in
            guard let former = state.former.removeValue(forKey: ask.url.string) else { return false }
            let isSame =
                outcome.contentDigest == former.contentDigest && outcome.failure?.status == former.failure?.status
            if !isSame { state.corrections.append(Correction(former: former, outcome: outcome)) }
            return state.former.isEmpty
        }
        if isDrained { drainedSignal.send() }
    }

    func count(_ suspects: Int, of hosts: [String]) {
        if suspects > 0 { state.withLock { $0.counts[hosts.joined(separator: ", "), default: 0] += suspects } }
    }

    /// The numbers of suspects since the last call, by their host.
    func takeCounts() -> [String: Int] {
        state.withLock { state in
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// Forgets what no run has taken: it was not for the run that begins.
    func begin() { state.withLock { $0.corrections = [] } }

    /// Returns when all have an outcome, even if the task is cancelled. - Returns: what is new.
    func corrections() async -> [Correction] {
        await Task {
            while state.withLock({ !$0.former.isEmpty }), await drainedSignal.wait() {}
        }.value
        return state.withLock { state in
            defer { state.corrections = [] }
            return state.corrections
        }
    }
}

extension CoverPipeline {
    /// Downloads covers again.
    /// - Parameter covers: those of the suspects that are not pending, with their former outcomes.
    func recheck(_ covers: [(cover: RequestedCover, former: CoverOutcome)], of suspects: SuspectCovers) async {
        recheck.count(covers.count + suspects.pending, of: suspects.hosts)
        let asks = recheck.asks(for: covers)
        if asks.isEmpty { return }
        do throws(LibraryError) {
            try await scheduler().submit(asks)
        } catch {
            for ask in asks { ask.close() }
        }
    }
}
