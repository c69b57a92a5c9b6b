import Synchronization

/// One cover to prefetch.
public struct CoverRequest: Sendable, Hashable {
    /// An http or https URL.
    public var url: String
    /// Whose cover it is: it may be elsewhere too.
    var album: Album?

    /// A request for the cover at `url`.
    public init(url: String) { self.url = url }

    /// A request for the cover of an album: at its `coverUrl`, else at one of its `coverUrls`, else at the Cover Art Archive
    /// under its MusicBrainz ids.
    public init(album: Album) {
        url = album.coverURL?.trimmingWhitespace() ?? ""
        self.album = album
    }
}

/// Gathers the elements of a sequence into batches: whatever has come while the last batch was worked on. Never waits for
/// a batch to fill, so that the first cover of a slow list starts at once.
struct Batches: AsyncSequence, Sendable {
    typealias Element = [ListElement]
    typealias Failure = Never

    /// The producer waits when it is this far ahead.
    private static let mostAhead = 1_024

    private struct State {
        var gathered: [ListElement] = []
        var isOver = false
        var consumer: CheckedContinuation<Void, Never>?
        var producer: CheckedContinuation<Void, Never>?
    }

    private final class Buffer: Sendable {
        let state = Mutex(State())

        func put(_ element: ListElement) async {
            let (consumer, isFull) = state.withLock { state in
                state.gathered.append(element)
                return (state.consumer.take(), state.gathered.count >= Batches.mostAhead)
            }
            consumer?.resume()
            if isFull { await waitForRoom() }
        }

        private func waitForRoom() async {
            await withCheckedContinuation { continuation in
                let hasRoom = state.withLock { state in
                    if state.gathered.isEmpty || state.isOver { return true }
                    state.producer = continuation
                    return false
                }
                if hasRoom { continuation.resume() }
            }
        }

        func end() {
            let (consumer, producer) = state.withLock { state in
                state.isOver = true
                return (state.consumer.take(), state.producer.take())
            }
            consumer?.resume()
            producer?.resume()
        }

        func take() async -> [ListElement]? {
            while true {
                let (batch, producer, isOver) = state.withLock { state in
                    defer { state.gathered = [] }
                    return (state.gathered, state.gathered.isEmpty ? nil : state.producer.take(), state.isOver)
                }
                producer?.resume()
                if !batch.isEmpty { return batch }
                if isOver { return nil }
                await withCheckedContinuation { continuation in
                    let mustWait = state.withLock { state in
                        if !state.gathered.isEmpty || state.isOver { return false }
                        state.consumer = continuation
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            }
        }
    }

    private let buffer = Buffer()
    private let pump: Task<Void, Never>

    /// - Parameter failed: told of the error that ended the sequence early.
    init<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, failed: @escaping @Sendable (any Error) -> Void
    ) where Requests.Element == CoverRequest {
        let buffer = buffer
        pump = Task {
            var line = 0
            do {
                for try await request in requests {
                    if Task.isCancelled { break }
                    line += 1
                    await buffer.put(.item(ListItem(url: request.url, album: request.album, line: line)))
                }
            } catch is CancellationError {
            } catch {
                failed(error)
            }
            buffer.end()
        }
    }

    /// Lets the producer go when nobody takes batches any more, to the end or not.
    final class Iterator: AsyncIteratorProtocol, Sendable {
        private let batches: Batches

        fileprivate init(_ batches: Batches) { self.batches = batches }

        deinit { batches.end() }

        func next() async -> [ListElement]? {
            await withTaskCancellationHandler {
                await batches.buffer.take()
            } onCancel: { [batches] in
                batches.end()
            }
        }

        func next(isolation actor: isolated (any Actor)?) async -> [ListElement]? { await next() }
    }

    private func end() {
        pump.cancel()
        buffer.end()
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
