package import HTTPTypes
import Synchronization

/// A body on its way through, however large: written on the event loop, read by whoever hands it on, one reader at a time.
/// When the reader is slow the sender waits: no more than some `most` bytes are held.
package final class BodyPipe: Sendable {
    private static let most = 1 << 20

    private struct State {
        var head: HTTPResponse?
        var bytes: [UInt8] = []
        var end: Result<Void, TransferError>?
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
        /// True: go on; false: nobody reads on.
        var control: (@Sendable (Bool) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Reading

    /// The response without its body, as soon as that begins. - Throws: `TransferError`.
    package func head() async throws(TransferError) -> HTTPResponse {
        while true {
            let (head, end) = state.withLock { ($0.head, $0.end) }
            if let head { return head }
            try end?.get()
            await change { $0.head != nil || $0.end != nil }
        }
    }

    /// What has come since; nil at the end. - Throws: `TransferError`.
    package func next() async throws(TransferError) -> [UInt8]? {
        while true {
            let (bytes, end, goOn) = state.withLock { state in
                let bytes = state.bytes, goOn = state.isPaused ? state.control : nil
                state.bytes = []
                state.isPaused = false
                return (bytes, state.end, goOn)
            }
            goOn?(true)
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await change { !$0.bytes.isEmpty || $0.end != nil }
        }
    }

    /// Ends the transfer: nobody reads on.
    package func abandon() { state.withLock { $0.control }?(false) }

    private func change(_ hasCome: @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = hasCome(state)
                if !isThere { state.reader = continuation }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    // MARK: Writing

    func set(control: @escaping @Sendable (Bool) -> Void) { state.withLock { $0.control = control } }

    func begin(_ head: HTTPResponse) { tell { $0.head = $0.head ?? head } }

    /// False: it is full, and wants to be offered the same again once `control` says so.
    func offer(_ chunk: UnsafeRawBufferPointer) -> Bool {
        var isTaken = true
        tell { state in
            isTaken = state.bytes.count < Self.most
            if isTaken { state.bytes += chunk } else { state.isPaused = true }
        }
        return isTaken
    }

    func end(_ result: Result<TransferResponse, TransferError>) {
        tell { state in
            if case .success(let response) = result { state.head = state.head ?? response.head }
            state.end = result.map { _ in }
        }
    }

    private func tell(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            return state.reader.take()
        }
        reader?.resume()
    }
}
