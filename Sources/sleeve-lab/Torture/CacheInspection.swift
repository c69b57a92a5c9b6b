import CommandSupport
import CoverLibrary
import Logging
import Platform

/// Opens the tortured cache while no other process uses it, as a program does after a crash.
struct CacheInspection: Sendable {
    /// The cache directory.
    let cache: String
    /// How long opening and reading may take.
    let timeLimit: Duration

    /// Opens the cache and reads every cover that it lists.
    /// - Throws: `TortureViolation` if the cache cannot be opened or listed.
    func check() async throws(TortureViolation) -> CacheContents {
        try await open(capacity: nil) { library in
            var contents = CacheContents()
            contents.coverBytes = coverBytes
            contents.defects = try await library.verify { _, _ in }.defects
            contents.defects += corruptIndexes.map { "a corrupt index was set aside as \($0)" }
            let (listed, read) = try await Self.read(library)
            contents.listed = listed
            for (url, result) in read {
                switch result {
                case .success(let digest): contents.read[url] = digest
                case .failure(let error): contents.unreadable[url] = error.message
                }
            }
            return contents
        }
    }

    /// Downloads all covers, and packs them.
    /// - Throws: `TortureViolation` if that fails.
    func pack(_ catalog: TortureCatalog, to file: String) async throws(TortureViolation) {
        let packed = try await open(capacity: TortureRound.ampleCapacity) { library in
            let requests = AsyncStream { continuation in
                for url in catalog.urls { continuation.yield(CoverRequest(url)) }
                continuation.finish()
            }
            _ = try await library.prefetch(requests).summary()
            return try await library.pack(to: URL(filePath: file)).covers
        }
        guard packed == catalog.urls.count else {
            throw TortureViolation(.failed, "only \(packed) of \(catalog.urls.count) covers could be downloaded")
        }
    }

    /// Sets the capacity, unpins all covers, and shrinks the cache.
    /// - Returns: The digests of the covers that are left, by URL.
    /// - Throws: `TortureViolation` if the cache cannot be opened or listed.
    func prepare(capacity: Int, bytes: Int) async throws(TortureViolation) -> [String: String] {
        try await open(capacity: capacity) { library in
            try await library.unpin(.all)
            try await library.evict(to: bytes)
            return try await WorkThread.run { Result { try Self.list(library) } }.get()
        }
    }

    /// Opening the cache replaces a corrupt index, and keeps it under such a name.
    private var corruptIndexes: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? []).filter { $0.contains(".bad-") }
    }

    /// The disk space of the covers' files, in bytes. Files that are removed meanwhile do not count.
    var coverBytes: Int { Self.bytes(of: cache + "/covers") }

    /// The disk space of a file, or of the files below a directory, in bytes.
    private static func bytes(of path: String) -> Int {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            return AllocatedSpace.bytes(of: path)
        }
        return names.reduce(0) { $0 + bytes(of: "\(path)/\($1)") }
    }

    private static func list(_ library: LibraryAPI) throws -> [String: String] {
        var listed: [String: String] = [:]
        try library.listCovers { listed[$0.url] = $0.digest }
        return listed
    }

    /// The covers that the cache lists, and the SHA-256 of the bytes that it returns for each.
    private static func read(
        _ library: LibraryAPI
    ) async throws -> (listed: [String: String], read: [String: Result<String, CoverFailure>]) {
        try await WorkThread.run {
            Result {
                let listed = try list(library)
                var read: [String: Result<String, CoverFailure>] = [:]
                for text in listed.keys {
                    guard let url = URL(string: text) else { continue }
                    do throws(CoverFailure) {
                        guard let cover = try library.cachedCover(for: url) else { continue }
                        read[text] = .success(Digest(of: cover.data).description)
                    } catch {
                        read[text] = .failure(error)
                    }
                }
                return (listed, read)
            }
        }.get()
    }

    private func open<Found: Sendable>(
        capacity: Int?, _ body: @escaping @Sendable (LibraryAPI) async throws -> Found
    ) async throws(TortureViolation) -> Found {
        var configuration = LibraryConfiguration(cacheDirectory: URL(filePath: cache))
        configuration.capacity = capacity
        // Repairs are what a torture provokes.
        configuration.logger = Logger(label: "sleeve") { _ in SwiftLogNoOpLogHandler() }
        let result = await withTimeLimit(timeLimit) { [configuration] in
            await Self.open(configuration, body)
        }
        switch result {
        case .success(let found): return found
        case .failure(let error): throw TortureViolation(.damaged, "the cache cannot be read: \(error)")
        case nil: throw TortureViolation(.waits, "the cache could not be read within \(timeLimit)")
        }
    }

    private static func open<Found: Sendable>(
        _ configuration: LibraryConfiguration, _ body: @Sendable (LibraryAPI) async throws -> Found
    ) async -> Result<Found, any Error> {
        do {
            let library = try await LibraryAPI(configuration: configuration)
            do {
                let found = try await body(library)
                await library.close()
                return .success(found)
            } catch {
                await library.close()
                return .failure(error)
            }
        } catch {
            return .failure(error)
        }
    }
}
