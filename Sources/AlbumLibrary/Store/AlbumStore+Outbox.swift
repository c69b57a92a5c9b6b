import Platform

extension AlbumStore {
    /// Sends queued edits, in order, each once, until the queue is empty or the server cannot be reached. One process at a
    /// time sends; it sends the edits of all of them.
    /// - Throws: `LibraryError`: the outbox cannot be read.
    package func sendEdits() async throws -> OutboxState {
        var state = OutboxState()
        guard let remote else { return state }
        // Two senders would break the order.
        let lock = try FileLock(path: try folderPath() + "/outbox.lock")
        if try isSending || !lock.tryLock() {
            state.waiting = try waitingEdits()
            if state.waiting > 0 { state.problem = "another process is sending edits" }
            return state
        }
        isSending = true
        defer { isSending = false }
        while state.problem == nil, let (number, message) = try journal({ try $0.firstMessage(to: remote.url) }) {
            switch await remote.send(message) {
            case .accepted:
                try journal { try $0.removeMessage(number) }
                state.sent += 1
            case .refused(let reason):
                try journal { try $0.refuseMessage(number, reason) }
                state.refused.append("\(message.subject): \(reason)")
            case .postponed(let reason): state.problem = reason
            }
        }
        lock.unlock()
        state.waiting = try waitingEdits()
        return state
    }

    /// The number of edits in the outbox.
    /// - Throws: `LibraryError`.
    package func waitingEdits() throws -> Int {
        guard let remote else { return 0 }
        return try journal { try $0.messageCount(to: remote.url) }
    }
}
