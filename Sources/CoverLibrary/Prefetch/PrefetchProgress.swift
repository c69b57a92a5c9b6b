import CoverCache
import CurlHTTP
import Synchronization

/// One prefetch under way, seen from outside: give a new one to `LibraryAPI.prefetch` and ask it for the state at any time.
public final class PrefetchProgress: Sendable {
    private struct State {
        var summary = PrefetchSummary()
        var outstanding = 0
        var begun: ContinuousClock.Instant?
        var isListRead = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Failures of this run, so that a repeated URL is not tried again.
        var failures: [UInt64: CoverFailure] = [:]
    }

    private static let mostFailures = 65_536
    private let state = Mutex(State())
    private let observe: (@Sendable (CoverOutcome) -> Void)?
    /// Returns when the observer can take more outcomes.
    let ready: @Sendable () async -> Void

    /// - Parameters:
    ///   - observe: called for every cover once its outcome is certain, from any thread. It must not block: transfers wait for it.
    ///   - ready: awaited before more of the list is read, so that an observer that falls behind slows the reading and nothing
    ///     else. It must return when its task is cancelled.
    public init(
        observe: (@Sendable (CoverOutcome) -> Void)? = nil, ready: @escaping @Sendable () async -> Void = {}
    ) {
        self.observe = observe
        self.ready = ready
    }

    /// The state at this moment.
    public var summary: PrefetchSummary {
        state.withLock { state in
            var summary = state.summary
            if let begun = state.begun { summary.seconds = begun.duration(to: .now).inSeconds }
            return summary
        }
    }

    /// How many covers there are in all; nil while the list is still being read.
    public var total: Int? { state.withLock { $0.isListRead ? $0.summary.requested : nil } }

    func listEnded() { state.withLock { $0.isListRead = true } }

    func begin() { state.withLock { $0.begun = .now } }

    func end() -> PrefetchSummary {
        state.withLock { state in
            state.summary.seconds = state.begun?.duration(to: .now).inSeconds ?? 0
            state.begun = nil
            return state.summary
        }
    }

    func cancel() { state.withLock { $0.summary.isCancelled = true } }

    /// The first reason stays. True when there was none.
    func stop(_ reason: String) -> Bool {
        state.withLock { state in
            if state.summary.stopReason != nil { return false }
            state.summary.stopReason = reason
            return true
        }
    }

    /// Nothing more is to be begun.
    var isEnding: Bool { state.withLock { $0.summary.isCancelled || $0.summary.stopReason != nil } }

    var isStopped: Bool { state.withLock { $0.summary.stopReason != nil } }

    /// So many covers have been asked for that `record` has not told of yet.
    func request(_ count: Int) {
        state.withLock { state in
            state.summary.requested += count
            state.outstanding += count
        }
    }

    /// So many that were asked for are not there any more.
    func forget(_ count: Int) { settle(count) { $0.requested -= count } }

    /// So many are left for the next time.
    func leave(_ count: Int) { state.withLock { $0.summary.remaining += count } }

    /// So many that were asked for are left for the next time.
    func putOff(_ count: Int = 1) {
        settle(count) { summary in
            summary.requested -= count
            summary.remaining += count
        }
    }

    func record(_ outcome: CoverOutcome) {
        observe?(outcome)
        settle(1) { $0.count(outcome) }
    }

    private func settle(_ count: Int, _ change: (inout PrefetchSummary) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state.summary)
            state.outstanding -= count
            return state.outstanding == 0 ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    func remember(_ failure: CoverFailure, of url: String) {
        state.withLock { state in
            if state.failures.count >= Self.mostFailures { return }
            state.failures[url.fingerprint] = failure
        }
    }

    func failure(of url: String) -> CoverFailure? { state.withLock { $0.failures[url.fingerprint] } }

    /// Returns when every cover asked for has its outcome.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.outstanding > 0 { state.waiter = continuation }
                return state.outstanding == 0
            }
            if isDone { continuation.resume() }
        }
    }
}

extension PrefetchSummary {
    fileprivate mutating func count(_ outcome: CoverOutcome) {
        switch outcome.kind {
        case .downloaded:
            downloaded += 1
            bytes += outcome.bytes
            if outcome.isDuplicate { deduplicated += 1 }
        case .revalidated: revalidated += 1
        case .fresh: fresh += 1
        case .joined: joined += 1
        case .skipped: skipped += 1
        case .failed: failed += 1
        }
    }
}

extension String {
    /// 64 bits of it, to remember having seen it.
    var fingerprint: UInt64 {
        var hasher = Hasher()
        hasher.combine(self)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
