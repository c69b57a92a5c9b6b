public import CoverFetch
import Platform
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

/// A change of a library, for its observers. Further events may be added: a `switch` needs a `default`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LibraryEvent: Sendable, Hashable {
    /// A cover is stored by this process: on disk, indexed, and safe from power loss. Its URL is the normalised one: the cover's key in the cache.
    case arrived(CoverOutcome)
    /// A cover could not be downloaded or stored, or a request for it has expired (`CoverRequest.timeout`).
    case failed(CoverFailure)
    /// This process has removed a cover from the cache, under all its URLs: it was evicted, replaced, removed or damaged.
    /// - Parameter digest: SHA-256 of its bytes, in hexadecimal, as `CoverStatus.digest`.
    case removed(digest: String)
    /// The albums have changed, in this process or another. Noticed at the library's next access to them.
    case albumsChanged
    /// The observer was too slow: this many events were dropped here.
    case missed(Int)

    /// Nil for an outcome that changes nothing, such as a revalidated cover.
    init?(_ outcome: CoverOutcome) {
        if outcome.kind == .downloaded {
            self = .arrived(outcome)
        } else if let failure = outcome.failure {
            self = .failed(failure)
        } else {
            return nil
        }
    }
}

/// Wakes one waiting task. Signals that are sent before a wait count as one.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }

    /// Makes every wait return false.
    func finish() { continuation.finish() }

    /// Returns true at the next signal, or immediately if one was sent since the last wait; false if the signal has finished or the
    /// task is cancelled.
    func wait() async -> Bool {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next() != nil
    }
}
