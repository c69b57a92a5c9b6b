import Synchronization

/// Gathers the elements of a sequence into batches: whatever has arrived while the last batch was processed. Never waits for a batch
/// to fill, so the first cover of a slow list starts at once.
struct RequestBatches: AsyncSequence, Sendable {
    typealias Element = [CoverRequest]
    typealias Failure = Never

    private final class Buffer: Sendable {
        /// Elements that the sequence may be read ahead.
        private static let maximumCount = 1_024
        private let state = Mutex((elements: Element(), isStopped: false))
        private let added = Signal()
        private let taken = Signal()

        /// Waits while the buffer is full. Returns false once nothing more is taken.
        func add(_ element: CoverRequest) async -> Bool {
            let count = state.withLock { state in
                state.elements.append(element)
                return state.elements.count
            }
            added.send()
            if count < Self.maximumCount { return true }
            while state.withLock({ $0.elements.count >= Self.maximumCount && !$0.isStopped }) {
                guard await taken.wait() else { return false }
            }
            return state.withLock { !$0.isStopped }
        }

        func take() async -> Element? {
            while true {
                let batch = takeAll()
                if !batch.isEmpty {
                    taken.send()
                    return batch
                }
                guard await added.wait() else { return state.withLock { $0.elements.isEmpty } ? nil : [] }
            }
        }

        private func takeAll() -> Element {
            state.withLock { state in
                defer { state.elements = [] }
                return state.elements
            }
        }

        /// The sequence has ended: what is left can still be taken.
        func finish() { added.finish() }

        /// Nothing more is taken. - Returns: what was left.
        func stop() -> Element {
            state.withLock { $0.isStopped = true }
            added.finish()
            taken.finish()
            return takeAll()
        }
    }

    private let buffer = Buffer()
    private let reading: Task<Void, Never>
    private let left: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - failed: receives the error that ended the sequence early. What was read before is given all the same.
    ///   - left: receives the number of requests that were read and not given, because the batches were not read to their end.
    init<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, failed: @escaping @Sendable (any Error) -> Void, left: @escaping @Sendable (Int) -> Void
    ) where Requests.Element == CoverRequest {
        let buffer = buffer
        self.left = left
        reading = Task {
            var line = 0
            do {
                for try await request in requests {
                    line += 1
                    var request = request
                    request.line = request.line ?? line
                    guard !Task.isCancelled, await buffer.add(request) else { break }
                }
            } catch {
                failed(error)
            }
            buffer.finish()
        }
    }

    /// Stops reading the sequence when it is released.
    final class Iterator: AsyncIteratorProtocol {
        private let batches: RequestBatches

        fileprivate init(_ batches: RequestBatches) { self.batches = batches }

        deinit { stop() }

        func next() async -> [CoverRequest]? { await next(isolation: #isolation) }

        func next(isolation actor: isolated (any Actor)?) async -> [CoverRequest]? {
            let batch = await batches.buffer.take()
            if batch == nil { stop() }
            return batch
        }

        private func stop() {
            batches.reading.cancel()
            batches.left(batches.buffer.stop().count)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
