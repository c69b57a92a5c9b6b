import Synchronization

/// The report of a torture while it grows. Its progress is shown from another task.
final class TortureTally: Sendable {
    private let state: Mutex<TortureReport>
    init(_ report: TortureReport) { state = Mutex(report) }
    var report: TortureReport { state.withLock { $0 } }
    func update(_ body: (inout TortureReport) -> Void) { state.withLock { body(&$0) } }
}
