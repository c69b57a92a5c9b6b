import Dispatch
import Platform

/// The elements of several lists, in order, as they are read. Reading blocks, so it has a thread of its own.
package struct ListBatches: AsyncSequence, Sendable {
    package typealias Element = [ListElement]
    package typealias Failure = Never

    /// Chunks read ahead.
    private static let ahead = 4

    private let stream: AsyncStream<[ListElement]>
    // Created with 0 and raised: libdispatch traps when a semaphore is destroyed below its initial value.
    private let permits = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - keepsOtherFields: for callers that write the albums again: keep all their fields, and check no URL. Else an item
    ///     whose URL cannot be requested is a problem, with its file and line.
    ///   - broken: called for each list that cannot be read to its end; the next list is read nonetheless.
    package init(
        paths: [String], format: ListFormat?, keepsOtherFields: Bool = false,
        broken: @escaping @Sendable (ListProblem) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: [ListElement].self)
        self.stream = stream
        let permits = permits
        for _ in 0..<Self.ahead { permits.signal() }
        // The thread may be waiting for a permit when the consumer stops.
        continuation.onTermination = { _ in permits.signal() }
        WorkThread.start {
            for path in paths {
                do throws(ListProblem) {
                    let reader = try AlbumListReader(path: path, format: format, keepsOtherFields: keepsOtherFields)
                    while var batch = try reader.next() {
                        if !keepsOtherFields { Self.checkURLs(&batch, path == "-" ? "stdin" : path) }
                        permits.wait()
                        if case .terminated = continuation.yield(batch) { return }
                    }
                } catch {
                    broken(error)
                }
            }
            continuation.finish()
        }
    }

    private static func checkURLs(_ batch: inout [ListElement], _ file: String) {
        for index in batch.indices {
            if case .item(let item) = batch[index], let problem = item.problem(in: file) {
                batch[index] = .problem(problem)
            }
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
