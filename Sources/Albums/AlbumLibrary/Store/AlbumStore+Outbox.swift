import Logging
import Platform

extension AlbumStore {
    /// Sends the queued edits to the remote library of the configuration, in order, each once, until the queue is empty or the
    /// server cannot be reached. Edits that were not sent stay on the disk for the next call.
    ///
    /// One process at a time sends. It sends the edits of all of them.
    @discardableResult
    public func sendEdits() async throws(LibraryError) -> OutboxState {
        var state = OutboxState()
        guard let remote else { return state }
        // Two senders would break the order.
        let lock: FileLock = try perform { try FileLock(path: try file.openState().path + "/outbox.lock") }
        let isFirst = try perform { try !isSending && lock.tryLock() }
        guard isFirst else {
            state.waiting = try waitingEdits()
            if state.waiting > 0 { state.problem = "another process is sending edits" }
            return state
        }
        isSending = true
        defer { isSending = false }
        while state.problem == nil, let (number, message) = try withJournal({ try $0.firstMessage(to: remote.url) }) {
            let outcome = await remote.send(message)
            switch outcome {
            case .accepted, .absent:
                if case .absent = outcome { logger.notice("\(message.subject): \(remote.url) did not have it") }
                try withJournal { try $0.removeMessage(number) }
                state.sent += 1
            case .refused(let reason):
                try withJournal { try $0.refuseMessage(number, reason) }
                state.refused.append("\(message.subject): \(reason)")
            case .postponed(let reason): state.problem = reason
            }
        }
        lock.unlock()
        state.waiting = try waitingEdits()
        return state
    }

    /// The number of edits queued for the remote library of the configuration.
    public func waitingEdits() throws(LibraryError) -> Int {
        guard let remote else { return 0 }
        return try withJournal { try $0.messageCount(to: remote.url) }
    }
}
