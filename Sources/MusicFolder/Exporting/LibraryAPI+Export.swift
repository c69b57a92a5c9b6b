import AlbumLibrary
package import CoverLibrary
import Platform
import Synchronization

extension LibraryAPI {
    /// Writes the cached covers of the library's albums as files into a folder. Only what changed is written, and nothing that a person
    /// put there or changed is replaced. Nothing is downloaded.
    /// - Parameters:
    ///   - directory: created if it is missing.
    ///   - onEvent: called for each file that is not unchanged, on any thread.
    /// - Throws: `LibraryError` if the library file, the cache or the folder's manifest cannot be read, or the folder not be written.
    package func export(
        _ options: ExportOptions, to directory: String,
        onEvent: @escaping @Sendable (ExportEvent) -> Void = { _ in },
        progress: @escaping @Sendable (ExportSummary) -> Void = { _ in }
    ) async throws(LibraryError) -> ExportSummary {
        try refuseCache(directory)
        let albums = try await albums.all()
        var covers = try await coverFiles(of: albums)
        if options.longestSide != nil {
            // They become JPEG.
            for index in covers.indices where ["image/png", "image/webp"].contains(covers[index]?.mediaType) {
                covers[index]?.mediaType = "image/jpeg"
            }
        }
        let isCancelled = Atomic(false)
        do {
            return try await withTaskCancellationHandler {
                try await WorkThread.run { [self, covers] in
                    let plan = ExportPlan(Array(zip(albums, covers)), options.pattern)
                    var exporter = Exporter(
                        options, try ExportFolder(directory, isDryRun: options.isDryRun),
                        coverPath: { self.coverFile($0) },
                        smaller: { digest in
                            options.longestSide.flatMap { try? self.coverBytes(digest, longestSide: $0) ?? nil }
                        }, isCancelled: { isCancelled.load(ordering: .relaxed) },
                        onEvent: onEvent, progress: progress)
                    return exporter.run(plan, albums: Set(albums.map(\.id)))
                }
            } onCancel: {
                isCancelled.store(true, ordering: .relaxed)
            }
        } catch let error as LibraryError {
            throw error
        } catch {
            throw .unwritableFile(path: directory, reason: "\(error)")
        }
    }

    /// - Throws: `LibraryError` if a directory, which need not exist, is in the cache.
    private func refuseCache(_ directory: String) throws(LibraryError) {
        let cache = AtomicFile.resolvingLinks(configuration.cacheDirectory.relativePath)
        var existing = directory
        while access(existing, F_OK) != 0, errno == ENOENT, ![".", "/"].contains(existing) {
            existing = AtomicFile.directory(of: existing)
        }
        if (AtomicFile.resolvingLinks(existing) + "/").hasPrefix(cache + "/") {
            throw .unwritableFile(path: directory, reason: "it is in the cache; name another folder")
        }
    }
}
