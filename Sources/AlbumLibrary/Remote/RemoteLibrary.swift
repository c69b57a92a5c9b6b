/// A remote library, which gets a copy of every edit.
package struct RemoteLibrary: Sendable {
    /// What came of a request.
    package enum Response: Sendable {
        /// The status code of the response.
        case status(Int)
        /// There is no response, and why.
        case unreachable(String)
    }

    /// The normalised URL. Messages in the outbox are addressed to it.
    package var url: String
    /// Sends JSON to a URL with `POST`, with an `Idempotency-Key`.
    package var post: @Sendable (_ url: String, _ body: [UInt8], _ key: String) async -> Response

    package init(
        url: String, post: @escaping @Sendable (_ url: String, _ body: [UInt8], _ key: String) async -> Response
    ) {
        self.url = url
        self.post = post
    }

    /// The result of sending one message.
    enum Outcome {
        case accepted
        /// The remote library will never accept it.
        case refused(String)
        /// It may accept it later.
        case postponed(String)
    }

    func send(_ message: RemoteMessage) async -> Outcome {
        let root = url.hasSuffix("/") ? String(url.dropLast()) : url
        switch await post(root + message.path, Array(message.body.utf8), message.key) {
        // The remote library does not have the album: deleted already, or never sent.
        case .status(200..<300),
            .status(404) where message.isDelete, .status(410) where message.isDelete:
            return .accepted
        // The request itself is refused. Other statuses may be temporary, or a person can fix their cause.
        case .status(let status) where [400, 404, 405, 409, 410, 413, 415, 422].contains(status):
            return .refused("\(url) answered \(status)")
        case .status(let status): return .postponed("\(url) answered \(status)")
        case .unreachable(let reason): return .postponed("remote unreachable (\(url): \(reason))")
        }
    }
}

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
