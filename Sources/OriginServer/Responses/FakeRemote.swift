import HTTPTypes
import NIOCore
import Platform
import Synchronization

/// A remote library that accepts edits: `POST /api/addAlbum`, `/api/deleteAlbum` and `/api/editAlbum`. `GET /api/albums`
/// lists its albums.
///
/// A request that repeats an earlier `Idempotency-Key` gets 200 and changes nothing.
final class FakeRemote: Sendable {
    private struct State {
        var albums: [(id: String, title: String)] = []
        var keys: Set<String> = []
        var edits: [String] = []

        mutating func apply(_ message: Message, path: Substring) -> OriginResponse {
            let id = message.album?.id ?? message.id
            switch (path, message.album, albums.firstIndex { $0.id == id }) {
            case ("/api/addAlbum", let album?, nil):
                albums.insert((album.id, album.title), at: min(max(message.index ?? .max, 0), albums.count))
                edits.append("add \(album.title)")
                return .text(201, "added\n")
            case ("/api/addAlbum", _?, _?): return .text(409, "the album exists\n")
            case ("/api/deleteAlbum", _, let index?):
                edits.append("delete \(albums.remove(at: index).title)")
                return .text(200, "deleted\n")
            case ("/api/editAlbum", let album?, let index?):
                albums[index].title = album.title
                edits.append("edit \(album.title)")
                return .text(200, "edited\n")
            case ("/api/addAlbum", nil, _), ("/api/editAlbum", nil, _): return .text(422, "\"album\" is missing\n")
            default: return .text(404, "no album has this id\n")
            }
        }
    }

    private struct Message: Decodable {
        struct Album: Decodable {
            var id: String
            var title: String
        }
        var album: Album?
        var index: Int?
        var id: String?
    }

    /// The maximum length of a request body, in bytes.
    static let maximumBody = 1 << 20
    private let state = Mutex(State())

    /// The edits in order, without repeated requests, such as "add Low Tide".
    var edits: [String] { state.withLock { $0.edits } }

    static func handles(_ path: Substring) -> Bool { path.hasPrefix("/api/") }

    func response(to request: HTTPRequest, path: Substring, body: [UInt8]) -> OriginResponse {
        if path == "/api/albums", request.method == .get { return list() }
        guard ["/api/addAlbum", "/api/deleteAlbum", "/api/editAlbum"].contains(path) else {
            return .text(404, "no resource at \(path)\n")
        }
        guard request.method == .post else { return .text(405, "only POST is allowed\n") }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(body)) else {
            return .text(400, "the body is not the expected JSON\n")
        }
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.headerFields[$0] }
        return state.withLock { state in
            if let key, !state.keys.insert(key).inserted { return .text(200, "already done\n") }
            return state.apply(message, path: path)
        }
    }

    private func list() -> OriginResponse {
        let albums = state.withLock { $0.albums.map { ["id": $0.id, "title": $0.title] } }
        let json = (try? JSONEncoder().encode(albums)) ?? Data("[]".utf8)
        return .text(200, String(decoding: json, as: UTF8.self), type: "application/json")
    }
}
