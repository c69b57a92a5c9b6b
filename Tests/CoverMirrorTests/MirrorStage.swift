import CoverCache
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// A mirror on a fresh folder, and the origin it mirrors.
struct MirrorStage: Sendable {
    let mirror: Mirror
    let server: MirrorServer
    let library: LibraryAPI
    let origin: Origin
    let folder: String
    var port: Int { server.port }
    /// By which an origin that fails is left alone; it stands still.
    let clock: Clock

    /// A clock that is set by hand.
    final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    /// One request on a connection of its own, on a thread of its own: it blocks.
    func ask(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> Reply {
        try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request(method, path, fields, body))
            return try wire.reply(toHead: method == "HEAD")
        }
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> Reply {
        try await ask("GET", path, fields)
    }

    func request(_ method: String, _ path: String, _ fields: [String: String] = [:], _ body: String? = nil) -> String {
        httpRequest(method, path, host: "127.0.0.1:\(port)", fields, body)
    }

    /// Has the cache hold, under `other`, what it has of `path`: for an origin whose answers change. - Returns: the bytes.
    func plant(_ path: String, under other: String) async throws -> [UInt8] {
        let body = try await get(path).body
        var metadata = try #require(try library.reader.entry(for: origin.url + path)).metadata
        metadata.key = origin.url + other
        _ = try await library.maintain { [metadata] writer in
            _ = try body.withUnsafeBytes { try writer.put(metadata, body: $0) }
            return try writer.commit()
        }
        return body
    }

    /// How often the origin was asked for a cover.
    func requests(_ number: Int) -> Int { origin.requestCount(path: "/covers/\(number).jpg") }
}

extension Reply {
    var cacheStatus: String { fields["cache-status"] ?? "" }
    /// `Cache-Status` without the time, which tests do not know.
    var outcome: String { cacheStatus.split(separator: "; ").filter { !$0.hasPrefix("ttl=") }.joined(separator: "; ") }
}

/// Runs `body` with a mirror; afterwards all of it is gone.
/// - Parameter site: what to mirror instead of the origin.
func withMirror(
    of site: String? = nil, _ configure: (inout LibraryConfiguration) -> Void = { _ in },
    _ body: (MirrorStage) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = OriginOptions()
    options.countPaths = true
    let origin = try await Origin.start(options)
    var configuration = LibraryConfiguration(cacheDirectory: folder + "/cache", libraryFile: folder + "/albums.json")
    configuration.timeout = .seconds(20)
    configure(&configuration)
    let library = try await LibraryAPI(configuration: configuration)
    let clock = MirrorStage.Clock()
    let mirror = try Mirror(library, origin: site ?? origin.url) { clock.now }
    var mirrorOptions = MirrorOptions()
    mirrorOptions.port = 0
    let server = try await MirrorServer.open(mirror, mirrorOptions, largestBody: 1 << 20)
    let result: Result<Void, any Error>
    do {
        let stage = MirrorStage(
            mirror: mirror, server: server, library: library, origin: origin, folder: folder,
            clock: clock)
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

/// Waits until `condition` holds; the test's time limit ends it otherwise.
func until(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition() { await Task.yield() }
}
