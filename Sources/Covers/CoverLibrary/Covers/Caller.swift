import CoverFetch
import Synchronization

/// A call for one cover, which waits for its outcome. Cancelling its task cancels the ask.
final class Caller: OutcomeSink {
    private struct State {
        var isCancelled = false
        var continuation: CheckedContinuation<CoverOutcome, Never>?
    }

    private let state = Mutex(State())

    var isWanted: Bool { !state.withLock { $0.isCancelled } }

    func outcome(of ask: Ask, _ pipeline: CoverPipeline) async -> CoverOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.continuation = continuation }
                Task { await pipeline.goOn([ask]) }
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
            pipeline.cancelAsks(of: self)
        }
    }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        state.withLock { $0.continuation.take() }?.resume(returning: outcome)
    }
}
