import CoverFetch
import Platform

/// The one place where the outcome of a request becomes known: to those who wait for it, and, made from it, to observers. The commit that makes it
/// true is behind it. Covers that no request asked for, those of packs and of a person's files, are published by what stores them.
struct Publisher {
    private let hub: EventHub
    /// The requests that wait for outcomes.
    private var pending: PendingStores?

    /// No request waits before `connect`.
    init(_ hub: EventHub) { self.hub = hub }

    mutating func connect(_ pending: PendingStores) { self.pending = pending }

    /// The keys of the outcomes that may be another's: they are not to be published.
    func suspects(among outcomes: [CoverOutcome]) -> Set<String> { pending?.suspects(among: outcomes) ?? [] }

    /// - Returns: the requests that the outcomes do not answer: they are at another address, or have their own fields.
    func publish(_ outcomes: [CoverOutcome]) -> [Ask] {
        var outcomes = outcomes
        let (now, end) = (ContinuousClock.now, WallClock.microseconds())
        let date = Date(milliseconds: end / 1_000)
        for index in outcomes.indices {
            outcomes[index].timings?.endCommit(at: now, end: end)
            if outcomes[index].kind != .failed { outcomes[index].date = date }
            hub.instruments.didEnd(outcomes[index])
        }
        if hub.isObserved { for event in outcomes.lazy.compactMap(LibraryEvent.init) { hub.publish(event) } }
        return pending?.complete(outcomes) ?? []
    }

    /// What happens without a commit.
    @Sendable func publish(_ report: SchedulerReport) {
        switch report {
        case .expired(let failure):
            hub.instruments.didExpire()
            hub.publish(.failed(failure))
        case .load(let load): hub.instruments.set(load)
        }
    }

    /// A cover that no request waits for: it was given by a person, or put back.
    func publish(stored outcome: CoverOutcome) { hub.publish(.arrived(outcome)) }
}
