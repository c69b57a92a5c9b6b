import AlbumLibrary
import Foundation
import OriginServer
import Wire

@testable import CoverFetch
@testable import CoverGallery
@testable import CoverLibrary

/// A gallery of a library in a new folder, and the origin of its covers.
struct GalleryStage: Sendable {
    let gallery: Gallery
    let library: LibraryAPI
    let origin: Origin
    let folder: String
    let port: Int

    var host: String { "127.0.0.1:\(port)" }
    /// How many covers are requested, or wait for that.
    var outstanding: Int { get async { await library.covers.startedScheduler?.jobCount ?? 0 } }

    /// Sends one request on a new connection. The blocking calls run on a new thread.
    func ask(
        _ method: String, _ path: String, _ fields: [String: String] = [:], json: String? = nil
    ) async throws -> Reply {
        try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request(method, path, fields, json))
            return try wire.reply()
        }
    }

    func request(_ method: String, _ path: String, _ fields: [String: String] = [:], _ json: String? = nil) -> String {
        var fields = fields
        if json != nil { fields["Content-Type"] = fields["Content-Type"] ?? "application/json" }
        return httpRequest(method, path, host: host, fields, json)
    }

    /// Caches the cover at a URL.
    @discardableResult
    func cover(at location: String) async throws -> Cover {
        try await library.cover(for: CoverRequest(location: location))
    }

    var ids: [String] { get async throws { try await library.albums.all().map(\.id) } }

    /// Connects to a page's event stream.
    func events(_ page: String) async throws -> Wire {
        try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request("GET", "/api/events?page=\(page)"))
            _ = try wire.reply(toHead: true)
            return wire
        }
    }
}

/// Runs `body` with a gallery of albums, and removes everything afterwards.
/// - Parameter albums: makes the library file's text.
func withGallery(
    _ configure: @Sendable (inout GalleryOptions) -> Void = { _ in },
    library configureLibrary: (inout LibraryConfiguration) -> Void = { _ in },
    review: (Origin) -> (any CoverReview)? = { _ in nil }, runs: [any GalleryRun] = [],
    albums: (Origin) -> [Album] = { origin in (0..<6).map { Album(title: "T\($0)", coverURL: origin.coverURL($0)) } },
    _ body: (GalleryStage) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var originOptions = OriginOptions()
    originOptions.countPaths = true
    let origin = try await Origin.start(originOptions)
    try Data(AlbumFile.text(of: albums(origin))).write(to: URL(filePath: folder + "/albums.json"))
    var configuration = LibraryConfiguration(
        cacheDirectory: URL(filePath: folder + "/cache"), libraryFile: URL(filePath: folder + "/albums.json"))
    configuration.retries = 0
    // A transfer that a test holds must not end before the test, however slow the machine is.
    configuration.timeout = .seconds(600)
    configureLibrary(&configuration)
    let library = try await LibraryAPI(configuration: configuration)
    var options = GalleryOptions()
    options.port = 0
    configure(&options)
    let gallery = try await Gallery.open(
        library, options, review: review(origin), runs: runs)
    let port = gallery.url.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    let result: Result<Void, any Error>
    do {
        let stage = GalleryStage(gallery: gallery, library: library, origin: origin, folder: folder, port: port)
        result = .success(try await body(stage))
    } catch {
        result = .failure(error)
    }
    await gallery.close()
    await library.close()
    await origin.stop()
    try result.get()
}

extension DownloadScheduler {
    fileprivate var jobCount: Int { queue.jobs.count }
}
