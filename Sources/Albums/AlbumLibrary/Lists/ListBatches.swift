import Dispatch
import Platform

/// The elements of several lists, in order. A thread reads and transforms them, because that blocks.
package struct ListBatches<Batch: Sendable>: AsyncSequence, Sendable {
    package typealias Element = Batch
    package typealias Failure = Never

    /// Maximum number of batches that are read and not consumed.
    private static var readAhead: Int { 4 }

    private let stream: AsyncStream<Batch>
    // Created with 0 and raised: libdispatch traps when a semaphore is destroyed below its initial value.
    private let permits = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - transform: Called with each batch of a file, on the thread.
    ///   - onNotice: Called for each list, once with text that is not UTF-8 in elements that are used nonetheless, and once with invisible
    ///     characters that were left out.
    ///   - onFailure: Called for each list that cannot be read to its end. The next list is read nonetheless.
    package init(
        paths: [String], _ options: ListOptions = ListOptions(),
        transform: @escaping @Sendable (_ batch: [ListElement], _ file: String) -> Batch,
        onNotice: @escaping @Sendable (ListProblem) -> Void = { _ in },
        onFailure: @escaping @Sendable (ListProblem) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: Batch.self)
        self.stream = stream
        let permits = permits
        for _ in 0..<Self.readAhead { permits.signal() }
        // The thread may be waiting for a permit when the consumer stops.
        continuation.onTermination = { _ in permits.signal() }
        WorkThread.start {
            for path in paths {
                let file = path == "-" ? "stdin" : path
                do throws(ListProblem) {
                    let reader = try AlbumListReader(path: path, options)
                    defer { if let notice = reader.leftOutNotice { onNotice(notice) } }
                    var hasNotice = false
                    while let batch = try reader.next() {
                        if !hasNotice, let notice = reader.notice {
                            hasNotice = true
                            onNotice(notice)
                        }
                        let transformed = transform(batch, file)
                        permits.wait()
                        if case .terminated = continuation.yield(transformed) { return }
                    }
                } catch {
                    onFailure(error)
                }
            }
            continuation.finish()
        }
    }

    package struct Iterator: AsyncIteratorProtocol {
        var stream: AsyncStream<Batch>.Iterator
        let permits: DispatchSemaphore

        package mutating func next(isolation actor: isolated (any Actor)?) async -> Batch? {
            permits.signal()
            return await stream.next(isolation: actor)
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(stream: stream.makeAsyncIterator(), permits: permits) }
}
