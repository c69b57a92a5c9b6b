import CoverCache
import CurlHTTP
import HTTPTypes
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The state of the outbox after an attempt to send it.
public struct OutboxState: Sendable, Hashable, Codable {
    /// Edits still queued.
    public var waiting = 0
    /// Edits sent by this call.
    public var sent = 0
    /// Why the queued edits were not sent, in one line; `nil` if none is queued.
    public var problem: String?
    /// Edits that the remote library refused permanently, one line each.
    public var refused: [String] = []

    /// An empty outbox.
    public init() {}
}

/// Sends the outbox to a remote library: in order, each message once, one process at a time.
actor RemoteLibrary {
    private let base: HTTPURL
    private let store: AlbumStore
    private let client: HTTPClient
    private let logger: Logger
    private var isSending = false

    /// - Throws: `LibraryError`: the URL cannot be used.
    init(url: String, store: AlbumStore, configuration: LibraryConfiguration) throws {
        base = try Self.parse(url)
        self.store = store
        client = try configuration.makeClient()
        logger = configuration.logger
    }

    static func parse(_ url: String) throws -> HTTPURL {
        if url.contains("?") {
            throw LibraryError(message: "cannot use the remote library's URL: remove its query (?…)")
        }
        do throws(HTTPURL.Problem) {
            return try HTTPURL(url)
        } catch {
            throw LibraryError(message: "cannot use the remote library's URL: \(error)")
        }
    }

    nonisolated func close() { client.loop.shutdown() }

    /// Sends queued edits until the queue is empty or the server cannot be reached.
    /// - Throws: `LibraryError`: the outbox cannot be read.
    func send() async throws -> OutboxState {
        var state = OutboxState()
        let remote = base.string
        // Two senders would break the order. The process that holds the lock sends our edits too.
        let lock = SenderLock(path: try await store.folderPath() + "/outbox.lock")
        if isSending || !lock.isHeld {
            state.waiting = try await store.journal { try $0.messageCount(to: remote) }
            if state.waiting > 0 { state.problem = "another process is sending edits" }
            return state
        }
        isSending = true
        defer { isSending = false }
        while state.problem == nil, let (number, message) = try await store.journal({ try $0.firstMessage(to: remote) })
        {
            switch await post(message) {
            case .taken:
                try await store.journal { try $0.removeMessage(number) }
                state.sent += 1
            case .refused(let reason):
                try await store.journal { try $0.refuseMessage(number, reason) }
                state.refused.append("\(message.subject): \(reason)")
            case .notNow(let reason): state.problem = reason
            }
        }
        lock.release()
        state.waiting = try await store.journal { try $0.messageCount(to: remote) }
        return state
    }

    private enum Outcome {
        case taken
        case refused(String)
        case notNow(String)
    }

    private func post(_ message: RemoteMessage) async -> Outcome {
        let root = base.string.hasSuffix("/") ? String(base.string.dropLast()) : base.string
        guard let url = try? HTTPURL(root + message.path), let name = HTTPField.Name("Idempotency-Key") else {
            return .notNow("cannot use the remote library's URL")
        }
        let request = TransferRequest(
            url: url, headerFields: [name: "\"\(message.key)\""], postedJSON: Array(message.body.utf8))
        do {
            let status = try await client.response(for: request).head.status.code
            switch status {
            case 200..<300: return .taken
            // The remote library does not have the album: deleted already, or never sent.
            case 404 where message.isDelete, 410 where message.isDelete:
                logger.notice("\(message.subject): \(base.string) did not have it")
                return .taken
            // The request itself is refused. Other statuses may be temporary, or a person can fix their cause.
            case 400, 404, 405, 409, 410, 413, 415, 422: return .refused("\(base.string) answered \(status)")
            default: return .notNow("\(base.string) answered \(status)")
            }
        } catch {
            let detail = (error as? TransferError).map { CoverFailure($0).detail } ?? "\(error)"
            return .notNow("remote unreachable (\(base.string): \(detail))")
        }
    }
}

/// An exclusive lock of the sending process. The kernel releases it when the process dies.
private final class SenderLock: Sendable {
    private let descriptor: Int32
    let isHeld: Bool

    init(path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        isHeld = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    func release() { flock(descriptor, LOCK_UN) }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
