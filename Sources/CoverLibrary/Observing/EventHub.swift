import DequeModule
import Synchronization

/// Gives every observer a bounded stream of its own. Telling them never waits: an observer whose buffer is full is told
/// later how many events it missed.
final class EventHub: Sendable {
    private struct State {
        var observers: [Int: Observer] = [:]
        var nextID = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// A new observer's stream; it ends when the library closes, or its task is cancelled.
    /// - Parameter limit: how many events it may fall behind.
    func events(limit: Int) -> AsyncStream<LibraryEvent> {
        let observer = Observer(limit: max(limit, 1))
        let id = state.withLock { state -> Int in
            state.nextID += 1
            if state.isClosed { observer.close() } else { state.observers[state.nextID] = observer }
            return state.nextID
        }
        let membership = Membership { [weak self] in self?.remove(id) }
        return AsyncStream {
            await withTaskCancellationHandler {
                await observer.next()
            } onCancel: {
                observer.close()
                membership.end()
            }
        }
    }

    /// Whether anybody would hear.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    func publish(_ event: LibraryEvent) {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer.tell(event) }
    }

    func close() {
        let observers = state.withLock { state in
            state.isClosed = true
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.close() }
    }

    private func remove(_ id: Int) { state.withLock { _ = $0.observers.removeValue(forKey: id) } }

    /// Ends an observer's place in the hub when its stream goes, however it goes.
    private final class Membership: Sendable {
        let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }
}

/// One observer's buffer. What it missed is told in the place where it is missing.
private final class Observer: Sendable {
    private struct State {
        var buffer: Deque<LibraryEvent> = []
        var missed = 0
        var isClosed = false
        var waiting: CheckedContinuation<LibraryEvent?, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    func tell(_ event: LibraryEvent) {
        let waiting = state.withLock { state -> CheckedContinuation<LibraryEvent?, Never>? in
            if state.isClosed { return nil }
            if let waiting = state.waiting.take() { return waiting }
            if state.buffer.count >= limit {
                state.missed += 1
                return nil
            }
            if state.missed > 0 { state.buffer.append(.missed(state.missed)) }
            state.missed = 0
            state.buffer.append(event)
            return nil
        }
        waiting?.resume(returning: event)
    }

    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    func next() async -> LibraryEvent? {
        await withCheckedContinuation { continuation in
            let (event, isReady) = state.withLock { state -> (LibraryEvent?, Bool) in
                if let event = state.buffer.popFirst() { return (event, true) }
                if state.missed > 0 {
                    defer { state.missed = 0 }
                    return (.missed(state.missed), true)
                }
                if state.isClosed { return (nil, true) }
                state.waiting = continuation
                return (nil, false)
            }
            if isReady { continuation.resume(returning: event) }
        }
    }
}
