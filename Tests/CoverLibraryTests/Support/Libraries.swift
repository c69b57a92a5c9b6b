import Foundation
import OriginServer

@testable import CoverLibrary

/// A library on a fresh folder, and the origin it fetches from.
struct Stage: Sendable {
    let origin: Origin
    let library: LibraryAPI
    let folder: String

    var segment: String { folder + "/cache/segments/0000000001.seg" }

    func url(_ number: Int, _ query: String = "") -> String {
        origin.coverURL(number) + (query.isEmpty ? "" : "?" + query)
    }

    /// Where `bytes` lie in the first segment.
    func place(of bytes: [UInt8]) throws -> Int? {
        try Data(contentsOf: URL(fileURLWithPath: segment)).range(of: Data(bytes))?.lowerBound
    }

    /// Flips one bit of the first segment.
    func flip(at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        let byte = try file.read(upToCount: 1)?.first ?? 0
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 0x10])
    }

    /// Another library on the same folder.
    func another(_ configure: (inout LibraryConfiguration) -> Void = { _ in }) async throws -> LibraryAPI {
        try await LibraryAPI(configuration: Self.configuration(folder, configure))
    }

    static func configuration(
        _ folder: String, _ configure: (inout LibraryConfiguration) -> Void
    ) -> LibraryConfiguration {
        var configuration = LibraryConfiguration(
            cacheDirectory: folder + "/cache", libraryFile: folder + "/albums.json")
        configuration.timeout = .seconds(30)
        configure(&configuration)
        return configuration
    }
}

/// Runs `body` with an origin and a library on a fresh folder; afterwards all of it is gone.
func withStage(
    _ configure: (inout LibraryConfiguration) -> Void = { _ in },
    origin serve: (inout OriginOptions) -> Void = { _ in },
    _ body: (Stage) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = OriginOptions()
    options.countPaths = true
    serve(&options)
    let origin = try await Origin.start(options)
    let result: Result<Void, any Error>
    do {
        let library = try await LibraryAPI(configuration: Stage.configuration(folder, configure))
        do {
            result = .success(try await body(Stage(origin: origin, library: library, folder: folder)))
        } catch {
            result = .failure(error)
        }
        await library.close()
    } catch {
        result = .failure(error)
    }
    await origin.stop()
    try result.get()
}

extension LibraryAPI {
    /// The failure that `cover(for:)` ends with; nil when there is a cover.
    func failure(_ url: String) async throws -> CoverFailure? {
        do {
            _ = try await cover(for: url)
            return nil
        } catch let failure as CoverFailure {
            return failure
        }
    }

    func prefetch(_ urls: [String], progress: PrefetchProgress = PrefetchProgress()) async throws -> PrefetchSummary {
        let requests = AsyncStream { continuation in
            for url in urls { continuation.yield(CoverRequest(url: url)) }
            continuation.finish()
        }
        return try await prefetch(requests, progress: progress)
    }
}
