import HTTPTypes
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A remote library that accepts edits: `POST /api/addAlbum`, `/api/deleteAlbum` and `/api/editAlbum`. `GET /api/albums`
/// lists its albums.
///
/// A request that repeats an earlier `Idempotency-Key` gets 200 and changes nothing.
final class FakeRemote: Sendable {
    private struct State {
        var albums: [(id: String, title: String)] = []
        var keys: Set<String> = []
        var edits: [String] = []
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
        let edit: (Message, inout State) -> OriginResponse
        switch path {
        case "/api/albums" where request.method == .get: return list()
        case "/api/addAlbum": edit = Self.add
        case "/api/deleteAlbum": edit = Self.delete
        case "/api/editAlbum": edit = Self.edit
        default: return .text(404, "no resource at \(path)\n")
        }
        guard request.method == .post else { return .text(405, "only POST is allowed\n") }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(body)) else {
            return .text(400, "the body is not the expected JSON\n")
        }
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.headerFields[$0] }
        return state.withLock { state in
            if let key, !state.keys.insert(key).inserted { return .text(200, "already done\n") }
            return edit(message, &state)
        }
    }

    private static func add(_ message: Message, _ state: inout State) -> OriginResponse {
        guard let album = message.album else { return .text(422, "\"album\" is missing\n") }
        if state.albums.contains(where: { $0.id == album.id }) { return .text(409, "the album exists\n") }
        let index = min(max(message.index ?? state.albums.count, 0), state.albums.count)
        state.albums.insert((album.id, album.title), at: index)
        state.edits.append("add \(album.title)")
        return .text(201, "added\n")
    }

    private static func delete(_ message: Message, _ state: inout State) -> OriginResponse {
        guard let index = state.albums.firstIndex(where: { $0.id == message.id }) else {
            return .text(404, "no album has this id\n")
        }
        state.edits.append("delete \(state.albums.remove(at: index).title)")
        return .text(200, "deleted\n")
    }

    private static func edit(_ message: Message, _ state: inout State) -> OriginResponse {
        guard let album = message.album else { return .text(422, "\"album\" is missing\n") }
        guard let index = state.albums.firstIndex(where: { $0.id == album.id }) else {
            return .text(404, "no album has this id\n")
        }
        state.albums[index].title = album.title
        state.edits.append("edit \(album.title)")
        return .text(200, "edited\n")
    }

    private func list() -> OriginResponse {
        let albums = state.withLock { $0.albums.map { ["id": $0.id, "title": $0.title] } }
        let json = (try? JSONEncoder().encode(albums)) ?? Data("[]".utf8)
        return .text(200, String(decoding: json, as: UTF8.self), type: "application/json")
    }
}
