import Synchronization

/// Gathers the elements of a sequence into batches: whatever has arrived while the last batch was processed. Never waits for a batch
/// to fill, so the first cover of a slow list starts at once.
struct RequestBatches: AsyncSequence, Sendable {
    typealias Element = [CoverRequest]
    typealias Failure = Never

    private final class Buffer: Sendable {
        /// Elements that the sequence may be read ahead.
        private static let maximumCount = 1_024
        private let elements = Mutex<Element>([])
        private let added = Signal()
        private let taken = Signal()

        /// Waits while the buffer is full. Returns false after `finish`.
        func add(_ element: CoverRequest) async -> Bool {
            let count = elements.withLock { elements in
                elements.append(element)
                return elements.count
            }
            added.send()
            if count < Self.maximumCount { return true }
            while elements.withLock({ $0.count }) >= Self.maximumCount {
                guard await taken.wait() else { return false }
            }
            return true
        }

        func take() async -> Element? {
            while true {
                let batch = elements.withLock { elements in
                    defer { elements = [] }
                    return elements
                }
                if !batch.isEmpty {
                    taken.send()
                    return batch
                }
                guard await added.wait() else { return elements.withLock { $0.isEmpty } ? nil : [] }
            }
        }

        func finish() {
            added.finish()
            taken.finish()
        }
    }

    private let buffer = Buffer()
    private let reading: Task<Void, Never>

    /// - Parameter failed: receives the error that ended the sequence early.
    init<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, failed: @escaping @Sendable (any Error) -> Void
    ) where Requests.Element == CoverRequest {
        let buffer = buffer
        reading = Task {
            var line = 0
            do {
                for try await request in requests {
                    line += 1
                    var request = request
                    request.line = request.line ?? line
                    guard !Task.isCancelled, await buffer.add(request) else { break }
                }
            } catch is CancellationError {
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
            batches.buffer.finish()
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
