import CommandSupport
import CoverLibrary
import Synchronization

/// Prints the covers that a command could not handle, one a line, up to a limit.
final class FailureList: Sendable {
    private static let maximumListed = 100
    private let state = Mutex(0)

    /// The number of failures so far.
    var count: Int { state.withLock { $0 } }

    func add(_ failure: CoverFailure) { add(failure.url.isEmpty ? failure.detail : failure.message) }

    func add(_ message: String) {
        let count = state.withLock { count in
            count += 1
            return count
        }
        if count <= Self.maximumListed { Log.warning(message) }
    }

    /// Prints how many failures were not listed.
    func summarize() {
        let omitted = count - Self.maximumListed
        if omitted > 0 { Log.warning("\(Decimals.grouped(omitted)) more failures are not listed") }
    }
}
