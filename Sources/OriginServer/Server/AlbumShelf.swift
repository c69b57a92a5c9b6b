import HTTPTypes
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A library that is told of edits: `POST /api/addAlbum`, `POST /api/deleteAlbum` and `POST /api/editAlbum`, and
/// `GET /api/albums` for what it has.
///
/// A request that repeats the `Idempotency-Key` of an earlier one is answered alike and changes nothing.
final class AlbumShelf: Sendable {
    private struct State {
        var albums: [(id: String, title: String)] = []
        var keys: Set<String> = []
        var messages: [String] = []
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

    static let largestBody = 1 << 20
    private let state = Mutex(State())

    /// What was asked for, in order, repeats left out: `add Low Tide`, `delete Low Tide`, `edit Low Tide`.
    var messages: [String] { state.withLock { $0.messages } }

    /// The titles, in order.
    var titles: [String] { state.withLock { $0.albums.map(\.title) } }

    static func answers(_ path: Substring) -> Bool { path.hasPrefix("/api/") }

    func answer(_ request: HTTPRequest, path: Substring, body: [UInt8]) -> Answer {
        if path == "/api/albums", request.method == .get { return list() }
        let edits = ["/api/addAlbum": Self.add, "/api/deleteAlbum": Self.delete, "/api/editAlbum": Self.edit]
        guard let edit = edits[String(path)] else {
            return .text(404, "there is nothing at \(path)\n")
        }
        guard request.method == .post else { return .text(405, "only POST\n") }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(body)) else {
            return .text(400, "not the JSON that is expected here\n")
        }
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.headerFields[$0] }
        return state.withLock { state in
            if let key, !state.keys.insert(key).inserted { return .text(200, "done before\n") }
            return edit(message, &state)
        }
    }

    private static func add(_ message: Message, _ state: inout State) -> Answer {
        guard let album = message.album else { return .text(422, "needs an album\n") }
        if state.albums.contains(where: { $0.id == album.id }) { return .text(409, "has that album\n") }
        let index = min(max(message.index ?? state.albums.count, 0), state.albums.count)
        state.albums.insert((album.id, album.title), at: index)
        state.messages.append("add \(album.title)")
        return .text(201, "added\n")
    }

    private static func delete(_ message: Message, _ state: inout State) -> Answer {
        guard let index = state.albums.firstIndex(where: { $0.id == message.id }) else {
            return .text(404, "has no such album\n")
        }
        state.messages.append("delete \(state.albums.remove(at: index).title)")
        return .text(200, "deleted\n")
    }

    private static func edit(_ message: Message, _ state: inout State) -> Answer {
        guard let album = message.album else { return .text(422, "needs an album\n") }
        guard let index = state.albums.firstIndex(where: { $0.id == album.id }) else {
            return .text(404, "has no such album\n")
        }
        state.albums[index].title = album.title
        state.messages.append("edit \(album.title)")
        return .text(200, "edited\n")
    }

    private func list() -> Answer {
        let albums = state.withLock { $0.albums.map { ["id": $0.id, "title": $0.title] } }
        let bytes = (try? JSONEncoder().encode(albums)) ?? Data("[]".utf8)
        let fields: HTTPFields = [.contentType: "application/json", .contentLength: String(bytes.count)]
        return Answer(200, fields, .bytes(ByteBuffer(bytes: bytes), perSecond: nil))
    }
}
