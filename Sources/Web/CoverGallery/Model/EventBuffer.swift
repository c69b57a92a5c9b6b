import Synchronization

/// The unsent server-sent events of one page (HTML Living Standard, section 9.2).
///
/// An event replaces an unsent one with the same key, so the buffer of a page that does not read holds at most one event per key.
final class EventBuffer: Sendable {
    private struct State {
        var keys: [String] = []
        var messages: [String: String] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - key: What the event is about; `event` if nil.
    ///   - json: The event's data, on one line.
    func post(_ event: String, key: String? = nil, _ json: String) {
        append(key ?? event, "event: \(event)\ndata: \(json)\n\n")
    }

    /// Posts a comment, so that a broken connection is noticed.
    func postHeartbeat() { append("heartbeat", ": \n\n") }

    private func append(_ key: String, _ message: String) {
        state.withLock { state in
            if state.isClosed { return }
            if state.messages.updateValue(message, forKey: key) == nil { state.keys.append(key) }
        }
        wakeUps.continuation.yield()
    }

    /// All unsent events as one text, each time there are some. Ends after `close()`. There may be only one reader.
    var batches: some AsyncSequence<String, Never> {
        wakeUps.stream.compactMap { self.takeAll() }
    }

    private func takeAll() -> String? {
        state.withLock { state in
            if state.keys.isEmpty { return nil }
            defer { (state.keys, state.messages) = ([], [:]) }
            return state.keys.compactMap { state.messages[$0] }.joined()
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        wakeUps.continuation.finish()
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var unsentCount: Int { state.withLock { $0.keys.count } }
}
