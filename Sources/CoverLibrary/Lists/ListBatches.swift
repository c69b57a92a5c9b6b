import CurlHTTP
import Dispatch

/// The elements of several lists, one after the other, as they are read. Reading blocks, so it has a thread of its own.
package struct ListBatches: AsyncSequence, Sendable {
    package typealias Element = [ListElement]
    package typealias Failure = Never

    /// Chunks read ahead.
    private static let ahead = 4

    private let stream: AsyncStream<[ListElement]>
    // Begun at 0 and raised: libdispatch traps when a semaphore goes with less than it began with.
    private let permits = DispatchSemaphore(value: 0)

    /// - Parameter broken: told of each list that could not be read to its end; the next one is read all the same.
    /// - Parameter keepsOtherFields: for those who write the albums again.
    package init(
        paths: [String], format: ListFormat?, keepsOtherFields: Bool = false,
        broken: @escaping @Sendable (ListProblem) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(of: [ListElement].self)
        self.stream = stream
        let permits = permits
        for _ in 0..<Self.ahead { permits.signal() }
        // The thread may be waiting when nobody wants more.
        continuation.onTermination = { _ in permits.signal() }
        WorkThread.start {
            for path in paths {
                do throws(ListProblem) {
                    let reader = try AlbumListReader(path: path, format: format, keepsOtherFields: keepsOtherFields)
                    while let batch = try reader.next() {
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
