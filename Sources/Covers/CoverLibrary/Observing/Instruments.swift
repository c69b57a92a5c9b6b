import CoverFetch

#if Metrics
    import Metrics
#endif

/// Counts what a library does for the program's metrics system (swift-metrics). Counts nothing without the trait `Metrics`.
struct Instruments: Sendable {
    #if Metrics
        private let downloaded = Counter(label: "sleeve_transfers", dimensions: [("outcome", "downloaded")])
        private let revalidated = Counter(label: "sleeve_transfers", dimensions: [("outcome", "revalidated")])
        private let bytes = Counter(label: "sleeve_downloaded_bytes")
        private let duration = Timer(label: "sleeve_transfer_duration")
        private let hits = Counter(label: "sleeve_lookups", dimensions: [("result", "hit")])
        private let misses = Counter(label: "sleeve_lookups", dimensions: [("result", "miss")])
        private let expired = Counter(label: "sleeve_expired_requests")
        private let inFlight = Gauge(label: "sleeve_transfers_in_flight")
        private let waiting = Gauge(label: "sleeve_waiting_covers")
        private let unstored = Gauge(label: "sleeve_unstored_bytes")
    #endif

    /// A transfer has ended, and what it brought is committed.
    func didEnd(_ outcome: CoverOutcome) {
        #if Metrics
            // Another download's transfer.
            if outcome.isJoined { return }
            if let failure = outcome.failure {
                if failure.kind == .notTried || failure.isGivenUp { return }
                Counter(
                    label: "sleeve_transfers", dimensions: [("outcome", "failed"), ("kind", failure.kind.rawValue)]
                ).increment()
            } else if outcome.kind == .revalidated {
                revalidated.increment()
            } else {
                downloaded.increment()
                bytes.increment(by: outcome.bytes)
            }
            if outcome.duration > .zero { duration.recordMicroseconds(outcome.milliseconds * 1_000) }
        #endif
    }

    /// A request ended because its time was over.
    func didExpire() {
        #if Metrics
            expired.increment()
        #endif
    }

    func set(_ load: SchedulerReport.Load) {
        #if Metrics
            inFlight.record(load.inFlight)
            waiting.record(load.waiting)
            unstored.record(load.unstoredBytes)
        #endif
    }

    /// The cache was asked for covers.
    func didLookUp(hits hitCount: Int = 0, misses missCount: Int = 0) {
        #if Metrics
            if hitCount > 0 { hits.increment(by: hitCount) }
            if missCount > 0 { misses.increment(by: missCount) }
        #endif
    }
}
