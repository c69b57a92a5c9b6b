import CoverCache
import CoverPack
import CurlHTTP
import Foundation
import OriginServer
import Platform

@testable import CoverLibrary

/// A library in a new folder, and the origin that serves its covers.
struct Stage: Sendable {
    let origin: Origin
    let library: LibraryAPI
    let folder: String

    func url(_ number: Int, _ query: String = "") -> String {
        origin.coverURL(number) + (query.isEmpty ? "" : "?" + query)
    }

    /// The file of a cover with these bytes.
    func file(of bytes: [UInt8]) -> String { library.covers.shelf.reader.path(of: Digest(of: bytes)) }

    /// Flips one bit in the file of a cover with these bytes.
    func flip(at offset: Int, of bytes: [UInt8]) throws {
        let file = try FileHandle(forUpdating: URL(filePath: file(of: bytes)))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [bytes[offset] ^ 0x10])
    }

    /// Another library in the same folder.
    func another(_ configure: (inout LibraryConfiguration) -> Void = { _ in }) async throws -> LibraryAPI {
        try await LibraryAPI(configuration: Self.configuration(folder, configure))
    }

    static func configuration(
        _ folder: String, _ configure: (inout LibraryConfiguration) -> Void
    ) -> LibraryConfiguration {
        var configuration = LibraryConfiguration(
            cacheDirectory: URL(filePath: folder + "/cache"), libraryFile: URL(filePath: folder + "/albums.json"))
        configuration.timeout = .seconds(30)
        configure(&configuration)
        return configuration
    }
}

/// Runs `body` with an origin and a library in a new folder, and removes them afterwards.
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
    /// The cover at a URL, which need not be valid.
    func cover(
        at url: String, priority: CoverRequest.Priority? = nil, cachePolicy: CoverRequest.CachePolicy = .useCache
    ) async throws(CoverFailure) -> Cover {
        try await cover(for: CoverRequest(location: url, priority: priority, cachePolicy: cachePolicy))
    }

    /// The cached cover at a URL, which need not be valid.
    func cached(_ url: String) throws(CoverFailure) -> Cover? {
        try covers.shelf.cachedCover(HTTPURL(location: url, ignoring: []), location: url)
    }

    /// The failure that `cover(at:)` throws; nil if it returns a cover.
    func failure(_ url: String) async -> CoverFailure? {
        do throws(CoverFailure) {
            _ = try await cover(at: url)
            return nil
        } catch {
            return error
        }
    }

    /// What the cache knows of URLs, which need not be valid.
    func history(of urls: [String]) async throws(CoverFailure) -> [CoverHistory] {
        try await history(of: urls.map { CoverRequest(location: $0) })
    }

    func prefetch(
        _ urls: [String], cachePolicy: CoverRequest.CachePolicy = .useCache
    ) -> CoverOutcomes<LibraryError> {
        let requests = AsyncStream { continuation in
            for url in urls { continuation.yield(CoverRequest(location: url, cachePolicy: cachePolicy)) }
            continuation.finish()
        }
        return prefetch(requests)
    }
}

extension CoverOutcomes {
    /// Runs to the end.
    func collect() async throws(Failure) -> (outcomes: [CoverOutcome], summary: RunSummary) {
        var outcomes: [CoverOutcome] = []
        for try await outcome in self { outcomes.append(outcome) }
        return (outcomes, progress)
    }
}

extension Cover {
    var bytes: [UInt8] { Array(data) }
    var location: String { url.absoluteString }
}

extension LibraryAPI {
    func pack(_ selection: CoverSelection = .all, to file: URL) async throws(LibraryError) -> PackSummary {
        try await pack(selection, to: .file(file.path()), onFailure: { _ in })
    }

    func unpack(_ file: URL) async throws -> UnpackSummary {
        let handle = try FileHandle(forReadingFrom: file)
        return try await unpack(Self.pack(in: handle.fileDescriptor, name: file.path()), onFailure: { _ in })
    }
}
