import CoverFetch
import Synchronization

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
                    Task { await pipeline.goOn([ask]) }
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
