import Dispatch
import Synchronization

/// Passes folders from the thread that walks to the threads that read. Adding waits while many folders wait.
final class FolderQueue: Sendable {
    private struct State {
        var folders: [FolderListing] = []
        var isClosed = false
    }

    private static let capacity = 64
    private let state = Mutex(State())
    private let filled = DispatchSemaphore(value: 0)
    private let free = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.capacity { free.signal() } }

    func add(_ folder: FolderListing) {
        free.wait()
        state.withLock { $0.folders.append(folder) }
        filled.signal()
    }

    /// No folder follows.
    func close() {
        state.withLock { $0.isClosed = true }
        filled.signal()
    }

    /// Waits for a folder. Nil when there are no more.
    func next() -> FolderListing? {
        filled.wait()
        let folder = state.withLock { $0.folders.isEmpty ? nil : $0.folders.removeFirst() }
        // Closed, for the other threads too.
        if folder == nil { filled.signal() } else { free.signal() }
        return folder
    }
}
