import CoverLibrary
import Synchronization

/// Tells failures on stderr as they happen, the first few of them: ten thousand lines help nobody, the report has them all.
final class Complaints: Sendable {
    private static let most = 20
    private let told = Mutex(0)

    func add(_ outcome: CoverOutcome) {
        guard let failure = outcome.failure, failure.kind != .cancelled, failure.kind != .cache else {
            return  // What the cache cannot take ends the run, and is told once, at its end.
        }
        tell(outcome.kind == .skipped ? Self.skipped(failure) : failure.message)
    }

    func tell(_ text: String) {
        let number = told.withLock { told in
            told += 1
            return told
        }
        if number <= Self.most { Log.warning(text) }
    }

    /// Says how many were left out.
    func close(hasReport: Bool) {
        let left = told.withLock { $0 } - Self.most
        if left > 0 {
            let hint = hasReport ? "the report lists them all" : "--report FILE lists them all"
            Log.warning("… and \(left) more like these; \(hint)")
        }
    }

    private static func skipped(_ failure: CoverFailure) -> String {
        // A list's own problem names its place already.
        guard let line = failure.line else { return failure.detail }
        return "line \(line): \(failure.url): \(failure.detail); skipped"
    }
}
