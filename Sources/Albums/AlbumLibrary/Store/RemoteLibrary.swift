import Files
import Logging
import Platform

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

/// An edit of one album for a remote library: a POST that stays in the outbox until the server has accepted it.
struct RemoteMessage: Sendable, Hashable {
    /// The remote library's URL.
    var remote: String
    /// The Idempotency-Key. A server applies messages with equal keys once.
    var key: String
    /// `/api/addAlbum`, `/api/deleteAlbum` or `/api/editAlbum`.
    var path: String
    /// JSON.
    var body: String

    var isDelete: Bool { path == "/api/deleteAlbum" }

    /// The edit in words: `adding “Low Tide”`.
    var subject: String {
        struct Body: Decodable {
            struct Album: Decodable { var title: String }
            var album: Album?
            var title: String?
        }
        let body = try? JSONDecoder().decode(Body.self, from: Data(self.body.utf8))
        let title = body?.album?.title ?? body?.title ?? ""
        let verb = Self.verbs.first { path == Self.path(of: $0.key) }?.value ?? "sending"
        return "\(verb) “\(title.inMessage)”"
    }

    private static let verbs: [AlbumEdit.Kind: String] = [.add: "adding", .delete: "deleting", .edit: "editing"]

    private static func path(of kind: AlbumEdit.Kind) -> String { "/api/\(kind.rawValue)Album" }

    /// The messages of an edit, one for each album, in order.
    ///
    /// `POST /api/addAlbum` has `{"album": {…}, "index": 3, "after": "id of the album before it"}`, `POST /api/deleteAlbum`
    /// has `{"id": "…", "title": "…", "index": 3}`, `POST /api/editAlbum` has `{"album": {…}, "index": 3}` with the whole album.
    ///
    /// The path of a cover file stays here, and an edit of it alone is no message.
    static func messages(for edit: AlbumEdit, to remote: String) -> [RemoteMessage] {
        edit.changes.compactMap { change in
            let album = change.album.withoutCoverFile
            if album == change.former?.withoutCoverFile { return nil }
            var body = JSONObject()
            if edit.kind == .delete {
                body.add("id", change.album.id)
                body.add("title", change.album.title)
            } else {
                body.add("album", raw: album.json)
            }
            body.add("index", change.index)
            if edit.kind == .add { body.add("after", change.precedingID) }
            let key = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
            return RemoteMessage(
                remote: remote, key: key, path: path(of: edit.kind), body: body.text)
        }
    }
}

extension AlbumStore {
    /// Sends the queued edits to the remote library of the configuration, in order, each once, until the queue is empty or the
    /// server cannot be reached. Edits that were not sent stay on the disk for the next call.
    ///
    /// One process at a time sends. It sends the edits of all of them.
    @discardableResult
    public func sendEdits() async throws(LibraryError) -> OutboxState {
        var state = OutboxState()
        guard let remote else { return state }
        // Two senders would break the order.
        let lock: FileLock = try perform { try FileLock(path: try file.openState().path + "/outbox.lock") }
        let isFirst = try perform { try !isSending && lock.tryLock() }
        guard isFirst else {
            state.waiting = try waitingEdits()
            if state.waiting > 0 { state.problem = "another process is sending edits" }
            return state
        }
        isSending = true
        defer { isSending = false }
        while state.problem == nil, let (number, message) = try withJournal({ try $0.firstMessage(to: remote.url) }) {
            let outcome = await remote.send(message)
            switch outcome {
            case .accepted, .absent:
                if case .absent = outcome { logger.notice("\(message.subject): \(remote.url) did not have it") }
                try withJournal { try $0.removeMessage(number) }
                state.sent += 1
            case .refused(let reason):
                try withJournal { try $0.refuseMessage(number, reason) }
                state.refused.append("\(message.subject): \(reason)")
            case .postponed(let reason): state.problem = reason
            }
        }
        lock.unlock()
        state.waiting = try waitingEdits()
        return state
    }

    /// The number of edits queued for the remote library of the configuration.
    public func waitingEdits() throws(LibraryError) -> Int {
        guard let remote else { return 0 }
        return try withJournal { try $0.messageCount(to: remote.url) }
    }
}

/// The remote library that a library remembers for its edits: a line in the file `remote` of its state directory.
package enum RememberedRemote {
    private static func file(of library: String) -> String { AlbumStore.stateDirectory(of: library) + "/remote" }

    /// The URL that a library file's edits are sent to; nil if there is none.
    package static func url(of library: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: file(of: library)) else { return nil }
        let url = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        return url.isEmpty ? nil : url
    }

    /// Remembers a URL, or none.
    /// - Throws: `LibraryError` if the state directory cannot be written.
    package static func set(_ url: String?, of library: String) throws(LibraryError) {
        let path = file(of: library)
        guard let url else {
            if unlink(path) != 0, errno != ENOENT { throw LibraryError(SystemError("remove", path: path)) }
            return
        }
        try? OwnedPath.makeFolders(FilePath.directory(of: path))
        do throws(SystemError) {
            try AtomicFile(Array((url + "\n").utf8), replacing: path).replace()
        } catch {
            throw LibraryError(error)
        }
    }
}
