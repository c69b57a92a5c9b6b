import DequeModule
import Synchronization

/// Gives every observer a bounded stream. Publishing never waits: an observer whose buffer is full receives the number
/// of events it missed.
final class EventHub: Sendable {
    private struct State {
        var observers: [ObjectIdentifier: Observer] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    let instruments = Instruments()

    /// A stream for a new observer. It ends when the library closes or the observer's task is cancelled.
    /// - Parameter limit: number of events that the observer may fall behind, at least 1.
    func events(limit: Int) -> AsyncStream<LibraryEvent> {
        let observer = Observer(limit: max(limit, 1))
        let id = ObjectIdentifier(observer)
        state.withLock { state in
            if state.isClosed { observer.close() } else { state.observers[id] = observer }
        }
        let subscription = Subscription { [weak self] in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: id) }
        }
        return AsyncStream {
            let event = await observer.next()
            if event == nil { subscription.end() }
            return event
        }
    }

    /// Whether there is any observer.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    func publish(_ event: LibraryEvent) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer.add(event) }
    }

    /// Ends all streams once their buffers are read.
    func close() {
        let observers = state.withLock { state in
            state.isClosed = true
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.close() }
    }

    /// Removes an observer from the hub when its stream is released.
    private final class Subscription: Sendable {
        let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }
}

/// One observer's buffer.
private final class Observer: Sendable {
    private struct State {
        var buffer: Deque<LibraryEvent> = []
        var missed = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    private let signal = Signal()

    init(limit: Int) { self.limit = limit }

    func add(_ event: LibraryEvent) {
        state.withLock { state in
            if state.buffer.count >= limit {
                state.missed += 1
                return
            }
            if state.missed > 0 { state.buffer.append(.missed(state.missed)) }
            state.missed = 0
            state.buffer.append(event)
        }
        signal.send()
    }

    func close() { signal.finish() }

    /// Nil at the end, or when the task is cancelled.
    func next() async -> LibraryEvent? {
        while true {
            let event = state.withLock { state -> LibraryEvent? in
                if let event = state.buffer.popFirst() { return event }
                if state.missed == 0 { return nil }
                defer { state.missed = 0 }
                return .missed(state.missed)
            }
            if let event { return event }
            guard await signal.wait() else { return nil }
        }
    }
}
