import Platform

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
