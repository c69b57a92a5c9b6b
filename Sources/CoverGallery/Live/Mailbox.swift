import Synchronization

/// What a page is still to be told, as server-sent events (HTML Living Standard, section 9.2).
///
/// A message replaces an older one of the same key that has not been taken yet, so a page that reads slowly, or not at all,
/// costs no more memory than the few things there are to tell.
final class Mailbox: Sendable {
    private struct State {
        var order: [String] = []
        var texts: [String: String] = [:]
        var isClosed = false
        var reader: CheckedContinuation<String?, Never>?
    }

    private let state = Mutex(State())

    /// - Parameter key: what the message is about; `event` if nil.
    func post(_ event: String, key: String? = nil, _ json: String) {
        put(key ?? event, "event: \(event)\ndata: \(json)\n\n")
    }

    /// Something to write, so that a connection that is gone is noticed.
    func beat() { put("beat", ": \n\n") }

    private func put(_ key: String, _ text: String) {
        let reader = state.withLock { state -> CheckedContinuation<String?, Never>? in
            if state.isClosed { return nil }
            if let reader = state.reader.take() { return reader }
            if state.texts.updateValue(text, forKey: key) == nil { state.order.append(key) }
            return nil
        }
        reader?.resume(returning: text)
    }

    /// Everything there is, as one text; waits for something. Nil: it is closed, or another reader has come.
    func next() async -> String? {
        await withCheckedContinuation { continuation in
            let (text, isReady, former) = state.withLock {
                state -> (String?, Bool, CheckedContinuation<String?, Never>?) in
                let former = state.reader.take()
                if !state.order.isEmpty {
                    let text = state.order.map { state.texts[$0] ?? "" }.joined()
                    state.order = []
                    state.texts = [:]
                    return (text, true, former)
                }
                if state.isClosed { return (nil, true, former) }
                state.reader = continuation
                return (nil, false, former)
            }
            former?.resume(returning: nil)
            if isReady { continuation.resume(returning: text) }
        }
    }

    func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Messages that have not been taken.
    var waitingCount: Int { state.withLock { $0.order.count } }
}
