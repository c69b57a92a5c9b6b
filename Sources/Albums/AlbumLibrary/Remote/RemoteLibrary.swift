/// A remote library, which receives every edit.
package struct RemoteLibrary: Sendable {
    /// The response to a POST.
    package enum Response: Sendable {
        /// The status code.
        case status(Int)
        /// There is no response, for this reason.
        case unreachable(String)
    }

    /// Sends JSON to a URL, with an `Idempotency-Key`.
    package typealias Post = @Sendable (_ url: String, _ json: String, _ key: String) async -> Response

    /// The normalised URL. Messages in the outbox are addressed to it.
    let url: String
    private let post: Post

    package init(url: String, post: @escaping Post) {
        self.url = url
        self.post = post
    }

    /// The result of sending one message.
    enum Outcome {
        case accepted
        /// The remote library does not have the album to delete: it was deleted already, or never sent.
        case absent
        /// The remote library will never accept it.
        case refused(String)
        /// It may accept it later.
        case postponed(String)
    }

    func send(_ message: RemoteMessage) async -> Outcome {
        let root = url.hasSuffix("/") ? String(url.dropLast()) : url
        switch await post(root + message.path, message.body, message.key) {
        case .status(200..<300): return .accepted
        case .status(let status) where message.isDelete && [404, 410].contains(status): return .absent
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
    /// The number of edits still queued.
    public var waiting = 0
    /// The number of edits sent by this call.
    public var sent = 0
    /// Why the queued edits were not sent, in one line; `nil` if none is queued.
    public var problem: String?
    /// Edits that the remote library refused permanently, one line each.
    public var refused: [String] = []

    /// Creates the state of an empty outbox.
    public init() {}
}
