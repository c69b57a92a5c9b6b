import Foundation
import Synchronization

/// A remote library that accepts edits: `POST /api/addAlbum`, `/api/deleteAlbum` and `/api/editAlbum`.
///
/// A request that repeats an earlier `Idempotency-Key` gets 200 and changes nothing.
package final class RemoteLibrary: Sendable {
    private struct State {
        var albums: [(id: String, title: String)] = []
        var keys: Set<String> = []
        var edits: [String] = []

        /// The response's status.
        mutating func apply(_ message: Message, path: String) -> String {
            switch (path, message.album, albums.firstIndex { $0.id == message.album?.id ?? message.id }) {
            case ("/api/addAlbum", let album?, nil):
                albums.append((album.id, album.title))
                edits.append("add \(album.title)")
                return "201 Created"
            case ("/api/addAlbum", _?, _?): return "409 Conflict"
            case ("/api/deleteAlbum", _, let index?): edits.append("delete \(albums.remove(at: index).title)")
            case ("/api/editAlbum", let album?, let index?):
                albums[index].title = album.title
                edits.append("edit \(album.title)")
            default: return "404 Not Found"
            }
            return "200 OK"
        }
    }

    private struct Message: Decodable {
        struct Album: Decodable { var id, title: String }
        var album: Album?
        var id: String?
    }

    private final class Library: Sendable {
        let state = Mutex(State())
    }

    private let library: Library
    private let server: ScriptedServer
    package var url: String { server.url }
    /// The edits in order, without repeated requests, such as "add Low Tide".
    package var edits: [String] { library.state.withLock { $0.edits } }

    /// - Parameter port: the port to listen on; 0 chooses a free one.
    package init(port: Int = 0) throws {
        let library = Library()
        self.library = library
        server = try ScriptedServer(port: port) { request in
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(request.body)) else {
                return httpResponse("400 Bad Request")
            }
            return library.state.withLock { state in
                if let key = request.field("Idempotency-Key"), !state.keys.insert(key).inserted {
                    return httpResponse("200 OK")
                }
                return httpResponse(state.apply(message, path: request.target))
            }
        }
    }

    package func stop() { server.stop() }
}
