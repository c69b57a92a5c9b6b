import CoverCache
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// A mirror with a new cache, and the origin that it mirrors.
struct MirrorStage: Sendable {
    let mirror: Mirror
    let server: MirrorServer
    let library: LibraryAPI
    let origin: Origin
    /// The clock of the origin's gate. It stands still until a test advances it.
    let clock: Clock
    var port: Int { server.port }

    /// A clock that is set by hand.
    final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    /// Sends one request on a new connection, and on a new thread, as it blocks.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> Reply {
        try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request(method, path, fields, body))
            return try wire.reply(toHead: method == "HEAD")
        }
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> Reply {
        try await send("GET", path, fields)
    }

    func request(_ method: String, _ path: String, _ fields: [String: String] = [:], _ body: String? = nil) -> String {
        httpRequest(method, path, host: "127.0.0.1:\(port)", fields, body)
    }

    /// The cover's entry; nil if the cache has none.
    func entry(_ path: String) throws -> CachedEntry? {
        try library.storedEntries(of: [.cover(url: origin.url + path)]).first
    }

    /// Stores the origin's response to `path` under `other` too, as if the origin's response to `other` had changed since.
    /// - Returns: its body.
    func store(_ path: String, under other: String) async throws -> [UInt8] {
        let body = try await get(path).body
        var metadata = try #require(try entry(path)).metadata
        metadata.key = origin.url + other
        _ = try await library.maintain { [metadata] writer in
            _ = try body.withUnsafeBytes { try writer.put(metadata, body: $0) }
            return try writer.commit()
        }
        return body
    }

    /// The number of requests that the origin received for a cover.
    func requestCount(_ number: Int) -> Int { origin.requestCount(path: "/covers/\(number).jpg") }
}

extension Reply {
    var cacheStatus: String { fields["cache-status"] ?? "" }
    /// `Cache-Status` without `ttl`, which depends on the time.
    var outcome: String { cacheStatus.split(separator: "; ").filter { !$0.hasPrefix("ttl=") }.joined(separator: "; ") }
}

/// Runs `body` with a mirror, and removes everything afterwards.
/// - Parameter site: the URL to mirror instead of the origin's.
func withMirror(
    of site: String? = nil, options configureServer: (inout MirrorOptions) -> Void = { _ in },
    _ configure: (inout LibraryConfiguration) -> Void = { _ in },
    _ body: (MirrorStage) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = OriginOptions()
    options.countPaths = true
    let origin = try await Origin.start(options)
    var configuration = LibraryConfiguration(
        cacheDirectory: URL(filePath: folder + "/cache"), libraryFile: URL(filePath: folder + "/albums.json"))
    configuration.timeout = .seconds(20)
    configure(&configuration)
    let library = try await LibraryAPI(configuration: configuration)
    let clock = MirrorStage.Clock()
    let mirror = try Mirror(of: site ?? origin.url, in: library) { clock.now }
    var mirrorOptions = MirrorOptions()
    mirrorOptions.port = 0
    configureServer(&mirrorOptions)
    let server = try await MirrorServer.open(mirror, mirrorOptions, maximumBodySize: 1 << 20)
    let result: Result<Void, any Error>
    do {
        let stage = MirrorStage(mirror: mirror, server: server, library: library, origin: origin, clock: clock)
        result = .success(try await body(stage))
    } catch {
        result = .failure(error)
    }
    await server.close()
    mirror.close()
    await library.close()
    await origin.stop()
    try result.get()
}
