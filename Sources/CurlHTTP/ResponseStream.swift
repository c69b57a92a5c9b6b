package import HTTPTypes
import Synchronization

/// A response whose body one reader receives chunk by chunk. The transfer pauses while a mebibyte is unread.
package final class ResponseStream: Sendable {
    private enum Event {
        case head(HTTPResponse)
        case chunk([UInt8])
        case end(Result<Void, TransferError>)
    }

    private struct State {
        var unread = 0
        var isPaused = false
        var hasHead = false
        var resume: (@Sendable () -> Void)?
    }

    private static let maximumUnread = 1 << 20

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let state = Mutex(State())

    package init() { (events, continuation) = AsyncStream.makeStream(of: Event.self) }

    // MARK: Reading

    /// The response without its body. Call it first. - Throws: `TransferError` if there is no response.
    package func head() async throws(TransferError) -> HTTPResponse {
        for await event in events {
            switch event {
            case .head(let head): return head
            case .end(.failure(let error)): throw error
            case .chunk, .end(.success): break
            }
        }
        throw Self.cancelled
    }

    /// The next chunk of the body; nil at its end. - Throws: `TransferError` if the body is incomplete.
    package func next() async throws(TransferError) -> [UInt8]? {
        for await event in events {
            switch event {
            case .chunk(let bytes):
                didRead(bytes.count)
                return bytes
            case .end(let result):
                try result.get()
                return nil
            case .head: break
            }
        }
        throw Self.cancelled
    }

    /// Cancels the transfer.
    package func cancel() { continuation.finish() }

    private func didRead(_ count: Int) {
        let resume = state.withLock { state in
            state.unread -= count
            guard state.isPaused, state.unread <= Self.maximumUnread / 2 else { return nil as (@Sendable () -> Void)? }
            state.isPaused = false
            return state.resume
        }
        resume?()
    }

    private static var cancelled: TransferError { TransferError(.cancelled, url: "", detail: "cancelled") }

    // MARK: Writing, on the event loop

    func onResume(_ resume: @escaping @Sendable () -> Void) { state.withLock { $0.resume = resume } }

    func onCancel(_ cancel: @escaping @Sendable () -> Void) { continuation.onTermination = { _ in cancel() } }

    func begin(_ head: HTTPResponse) {
        let isFirst = state.withLock { state in
            defer { state.hasHead = true }
            return !state.hasHead
        }
        if isFirst { continuation.yield(.head(head)) }
    }

    /// Returns false if the reader is too far behind. Offer the same chunk again after `onResume`.
    func offer(_ chunk: UnsafeRawBufferPointer) -> Bool {
        let isAccepted = state.withLock { state in
            if state.unread < Self.maximumUnread { state.unread += chunk.count } else { state.isPaused = true }
            return !state.isPaused
        }
        if isAccepted { continuation.yield(.chunk(Array(chunk))) }
        return isAccepted
    }

    func end(_ result: Result<TransferResponse, TransferError>) {
        if case .success(let response) = result { begin(response.head) }
        continuation.yield(.end(result.map { _ in }))
        continuation.finish()
    }
}
