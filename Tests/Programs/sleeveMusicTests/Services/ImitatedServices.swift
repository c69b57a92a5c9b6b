import CoverSources
import Foundation
import OriginServer
import Synchronization
import Wire

/// The Cover Art Archive, MusicBrainz, iTunes and Deezer, each below a path of its name, for as long as a test runs. They watch the manners
/// of their clients.
final class ImitatedServices: Sendable {
    private final class Watch: Sendable {
        let manners = Mutex(ServiceManners())
    }

    private let watch: Watch
    private let server: ScriptedServer
    var url: String { server.url }
    var manners: ServiceManners { watch.manners.withLock { $0 } }
    /// The options that name them to a command.
    func options(_ names: [SourceName] = CoverSource.table().map(\.name)) -> [String] {
        names.flatMap { ["--source-base", "\($0)=\(url)/\($0)"] }
    }

    /// - Parameters:
    ///   - throttled: each n-th search of a service gets the answer that it gives to too many.
    ///   - willSend: called before a picture is sent, with the number of its album.
    init(
        _ albums: [ServiceAlbum], throttled: Int? = nil, willSend: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let watch = Watch()
        self.watch = watch
        server = try ScriptedServer { request in
            Self.answer(request, albums, willSend) { name, agent, search in
                let mayAnswer = watch.manners.withLock { $0.begin(name, userAgent: agent, throttled: throttled) }
                // Searches that a client sends together overlap.
                usleep(2_000)
                defer { watch.manners.withLock { $0.end(name) } }
                return mayAnswer ? search() : Self.throttle(name)
            }
        }
    }

    func stop() { server.stop() }

    private static func answer(
        _ request: ScriptedServer.Request, _ albums: [ServiceAlbum], _ willSend: (Int) -> Void,
        search: (SourceName, String, () -> [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        guard let parts = URLComponents(string: request.target.replacing("+", with: "%20")) else { return notFound }
        let path = parts.path.split(separator: "/").map(String.init)
        let base = "http://\(request.field("Host") ?? "")"
        guard let name = path.first.map({ SourceName(rawValue: $0) }) else { return notFound }
        switch Array(path.dropFirst()) {
        case let path where path.first == "pictures":
            return picture(path.dropFirst().joined(separator: "/"), albums, willSend)
        case let path where name == .caa: return archive(path, albums, base)
        case ["ws", "2", "release"], ["search"], ["search", "album"]:
            let query = parts.queryItems?.first { ["query", "term", "q"].contains($0.name) }?.value ?? ""
            return search(name, request.field("User-Agent") ?? "") { results(name, query, albums, base) }
        case let path
        where path.starts(with: ["ws", "2", "release"]) || path == ["lookup"] || path.starts(with: ["album"]):
            let id = parts.queryItems?.first { $0.name == "id" }?.value ?? path.last ?? ""
            return search(name, request.field("User-Agent") ?? "") {
                let number = albums.indices.first {
                    albums[$0].services.contains(name) && albums[$0].id(name, $0) == id
                }
                return number.flatMap { albums[$0].details(name, $0) }.map(json) ?? notFound
            }
        default: return notFound
        }
    }

    private static let notFound = httpResponse("404 Not Found")

    private static func throttle(_ name: SourceName) -> [UInt8] {
        name == .deezer
            ? json(["error": ["type": "Exception", "message": "Quota limit exceeded", "code": 4]])
            : httpResponse("503 Service Unavailable")
    }

    private static func json(_ value: [String: Any]) -> [UInt8] {
        let bytes = (try? JSONSerialization.data(withJSONObject: value)).map { Array($0) } ?? []
        return httpResponse("200 OK", ["Content-Type: application/json"], bytes)
    }

    // MARK: Pictures

    /// `SERVICE-NUMBER/SIDExSIDE….jpg`, and `wrong-NUMBER/…` for that of another album.
    private static func picture(
        _ path: String, _ albums: [ServiceAlbum], _ willSend: (Int) -> Void
    ) -> [UInt8] {
        let parts = path.split(separator: "/")
        guard parts.count == 2, let number = Int(parts[0].split(separator: "-").last ?? ""),
            albums.indices.contains(number)
        else { return notFound }
        let side = Int(parts[1].prefix { $0.isNumber }) ?? 0
        guard !parts[0].hasPrefix("itunes") || side <= albums[number].largest else { return notFound }
        willSend(number)
        let album = albums[number]
        let bytes = album.picture == .plain ? ServiceAlbum.plain : album.picture(number, String(parts[0]), side: side)
        return httpResponse("200 OK", ["Content-Type: image/jpeg", "Cache-Control: max-age=86400"], bytes)
    }

    /// `/release/ID/front-1200`: 307 to the picture, 404 without a cover.
    private static func archive(_ path: [String], _ albums: [ServiceAlbum], _ base: String) -> [UInt8] {
        guard path.count == 3, path[2].hasPrefix("front-"),
            let number = albums.indices.first(where: { index in
                albums[index].services.contains(.caa) && ServiceAlbum.id(albums[index], index, path[0]) == path[1]
            })
        else { return notFound }
        return httpResponse(
            "307 Temporary Redirect", ["Location: \(base)/caa/pictures/caa-\(number)/\(path[2].dropFirst(6)).jpg"])
    }

    // MARK: Searches

    private static func results(
        _ name: SourceName, _ query: String, _ albums: [ServiceAlbum], _ base: String
    ) -> [UInt8] {
        let found = albums.indices.filter { albums[$0].services.contains(name) && albums[$0].matches(query) }
        let results = found.flatMap { number -> [[String: Any]] in
            let album = albums[number]
            let right = album.result(name, number, "\(base)/\(name)/pictures/\(name)-\(number)")
            guard album.isSecond else { return [right] }
            var other = album
            other.title = "A Tribute to \(album.title)"
            return [other.result(name, number, "\(base)/\(name)/pictures/wrong-\(number)"), right]
        }
        return json([name == .deezer ? "data" : name == .itunes ? "results" : "releases": results])
    }
}

/// Runs `body` with the services, and stops them afterwards. - Returns: what they saw of their clients.
func withServices(
    _ albums: [ServiceAlbum], throttled: Int? = nil, willSend: @escaping @Sendable (Int) -> Void = { _ in },
    _ body: (ImitatedServices) async throws -> Void
) async throws -> ServiceManners {
    let services = try ImitatedServices(albums, throttled: throttled, willSend: willSend)
    defer { services.stop() }
    try await body(services)
    return services.manners
}
