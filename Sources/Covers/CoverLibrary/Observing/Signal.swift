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
