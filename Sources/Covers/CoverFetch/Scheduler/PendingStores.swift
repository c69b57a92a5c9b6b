import CurlHTTP
import Synchronization

/// The downloads that were handed to the store and have no outcome yet, by key, with the asks that wait for each.
///
/// The scheduler adds a download when it has judged its response, and has done with it. A later ask for the key joins it here. The
/// store completes the asks when the outcome is certain; from then on, an ask for the key starts a new job, unless its look-up was
/// before: then it joins what has ended meanwhile.
package final class PendingStores: Sendable {
    /// How many stored covers are remembered for asks that were looked up before. More than are stored between a look-up and its ask.
    static let maximumRemembered = 4_096

    private struct Entry {
        var asks: [Ask]
        let sent: SentRequest
        /// Its response may be another's.
        var isSuspect = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The number of covers that were stored.
        var stores = 0
        /// The last of them, each with its number.
        var lastStored: [String: (number: Int, outcome: CoverOutcome)] = [:]
        /// Their keys, of which each replaces the oldest.
        var keys: [String] = []
        /// The last failures that servers answered with and that ended requests, of covers that were not stored since.
        var failures: [String: CoverOutcome] = [:]
        /// The number of entries that are suspect.
        var suspects = 0

        mutating func remember(_ outcome: CoverOutcome) {
            let maximum = PendingStores.maximumRemembered
            let place = stores % maximum
            stores += 1
            if place < keys.count {
                if let old = lastStored[keys[place]], old.number == stores - maximum { lastStored[keys[place]] = nil }
                keys[place] = outcome.url
            } else {
                keys.append(outcome.url)
            }
            lastStored[outcome.url] = (stores, outcome)
            if !failures.isEmpty { failures[outcome.url] = nil }
        }

        mutating func remember(failure outcome: CoverOutcome) {
            if failures.count >= PendingStores.maximumRemembered { failures = [:] }
            failures[outcome.url] = outcome
        }
    }

    private let state = Mutex(State())

    func add(_ key: String, _ asks: [Ask], _ sent: SentRequest) {
        state.withLock { $0.entries[key] = Entry(asks: asks, sent: sent) }
    }

    /// How many covers were stored so far. An ask has the number from before its look-up: what was stored since, the look-up has missed.
    package var stores: Int { state.withLock { $0.stores } }

    /// Adds an ask to a download, or completes it with a cover that was stored since the ask's look-up. Returns false if its key has neither.
    func join(_ ask: Ask) -> Bool {
        let key = ask.url.string
        let (isJoined, outcome) = state.withLock { state -> (Bool, CoverOutcome?) in
            if state.entries[key]?.asks.append(ask) != nil { return (true, nil) }
            guard let stores = ask.storesBeforeLookUp, let stored = state.lastStored[key], stored.number > stores else {
                return (false, nil)
            }
            return (true, stored.outcome)
        }
        if var outcome {
            (outcome.isJoined, outcome.timings) = (true, nil)
            ask.complete(outcome)
        }
        return isJoined
    }

    // MARK: Suspects

    /// Forgets how covers ended that may be another's, and has those that have not ended be requested again: `suspects(among:)`.
    func suspect(_ answer: UnaskedAnswer) -> SuspectCovers {
        var found = SuspectCovers(answer)
        var seen: Set<String> = []
        state.withLock { state in
            for cover in answer.covers {
                let key = cover.url.string
                guard seen.insert(key).inserted else { continue }
                if let entry = state.entries[key] {
                    found.pending += 1
                    if entry.isSuspect { continue }
                    state.entries[key]?.isSuspect = true
                    state.suspects += 1
                    continue
                }
                let stored = state.lastStored.removeValue(forKey: key)?.outcome
                found.suspects.append(.init(cover: cover, outcome: stored ?? state.failures.removeValue(forKey: key)))
            }
        }
        return found
    }

    /// The keys of the outcomes that may be another's. Their downloads are not to be completed, but submitted again.
    package func suspects(among outcomes: [CoverOutcome]) -> Set<String> {
        state.withLock { state in
            if state.suspects == 0 { return [] }
            return Set(outcomes.map(\.url).filter { state.entries[$0]?.isSuspect == true })
        }
    }

    /// Ends the downloads of these keys, and completes the asks that wait for them. The outcomes' URLs are keys.
    /// - Returns: the asks that need another request: to the next address of their album, or with their own address or fields.
    package func complete(_ outcomes: [CoverOutcome]) -> [Ask] {
        zip(outcomes, remove(outcomes.map(\.url), outcomes)).flatMap { outcome, entry -> [Ask] in
            guard let entry, !entry.asks.isEmpty else { return [] }
            let unanswered = entry.asks.complete(outcome, to: entry.sent)
            // The same picture for several covers may be one that nobody asked for.
            if let failure = outcome.failure, failure.status != nil || failure.kind == .placeholder, unanswered.isEmpty
            {
                state.withLock { $0.remember(failure: outcome) }
            }
            return unanswered
        }
    }

    /// Ends the downloads of these keys. - Returns: their asks.
    func takeBack(_ keys: [String]) -> [Ask] { remove(keys, []).compactMap(\.self).flatMap(\.asks) }

    private func remove(_ keys: [String], _ outcomes: [CoverOutcome]) -> [Entry?] {
        state.withLock { state in
            for outcome in outcomes where outcome.contentDigest != nil { state.remember(outcome) }
            return keys.map { key in
                let entry = state.entries.removeValue(forKey: key)
                if entry?.isSuspect == true { state.suspects -= 1 }
                return entry
            }
        }
    }
}

extension [Ask] {
    /// Completes asks that shared a transfer. All but the first have joined it.
    /// - Parameter sent: by that transfer.
    /// - Returns: the asks that need another request.
    func complete(_ outcome: CoverOutcome, to sent: SentRequest = SentRequest()) -> [Ask] {
        var outcome = outcome
        return filter { ask in
            guard ask.isAnswered(by: outcome, to: sent) else {
                // What is remembered of the key from now on is that outcome.
                if ask.cacheUse == .useCache { ask.cacheUse = .ignoreAbsence }
                return true
            }
            let isComplete = ask.complete(outcome)
            outcome.isJoined = true
            outcome.timings = nil
            return !isComplete
        }
    }
}
