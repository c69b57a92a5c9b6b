import Dispatch
import Platform

/// The elements of several lists, in order. A thread of its own reads them, because reading blocks.
package struct ListBatches: AsyncSequence, Sendable {
    package typealias Element = [ListElement]
    package typealias Failure = Never

    /// Maximum number of batches that are read and not consumed.
    private static let readAhead = 4

    private let stream: AsyncStream<[ListElement]>
    // Created with 0 and raised: libdispatch traps when a semaphore is destroyed below its initial value.
    private let permits = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - problem: The problem of an item in a file, which then replaces the item; nil if it has none.
    ///   - onNotice: Called once for each list with text that is not UTF-8 in elements that are used nonetheless.
    ///   - onFailure: Called for each list that cannot be read to its end. The next list is read nonetheless.
    package init(
        paths: [String], _ options: ListOptions = ListOptions(),
        problem: @escaping @Sendable (ListItem, _ file: String) -> ListProblem? = { _, _ in nil },
        onNotice: @escaping @Sendable (ListProblem) -> Void = { _ in },
        onFailure: @escaping @Sendable (ListProblem) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: [ListElement].self)
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
                    var hasNotice = false
                    while var batch = try reader.next() {
                        if !hasNotice, let notice = reader.notice {
                            hasNotice = true
                            onNotice(notice)
                        }
                        for index in batch.indices {
                            guard case .item(let item) = batch[index] else { continue }
                            if let problem = problem(item, file) { batch[index] = .problem(problem) }
                        }
                        permits.wait()
                        if case .terminated = continuation.yield(batch) { return }
                    }
                } catch {
                    onFailure(error)
                }
            }
            continuation.finish()
        }
    }

    package struct Iterator: AsyncIteratorProtocol {
        var stream: AsyncStream<[ListElement]>.Iterator
        let permits: DispatchSemaphore

        package mutating func next() async -> [ListElement]? {
            permits.signal()
            return await stream.next()
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async -> [ListElement]? {
            permits.signal()
            return await stream.next(isolation: actor)
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(stream: stream.makeAsyncIterator(), permits: permits) }
}
