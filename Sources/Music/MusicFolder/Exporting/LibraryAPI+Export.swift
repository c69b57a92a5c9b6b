import AlbumLibrary
package import CoverLibrary
import Files
import ImageHeader
import Platform
import Synchronization

extension LibraryAPI {
    /// Writes the covers of the library's albums as files into a folder, which it marks: the cached ones, and the files beside the music. Only
    /// what changed is written, and nothing that a person or another library put there is replaced. Nothing is downloaded.
    /// - Parameters:
    ///   - directory: created if it is missing.
    ///   - onEvent: called for each file that is not unchanged, on any thread.
    /// - Throws: `LibraryError` if the library file, the cache or the folder's mark cannot be read, or the folder not be written.
    package func export(
        _ options: ExportOptions, to directory: String,
        onEvent: @escaping @Sendable (ExportEvent) -> Void = { _ in },
        progress: @escaping @Sendable (ExportSummary) -> Void = { _ in }
    ) async throws(LibraryError) -> ExportSummary {
        try refuseCache(directory)
        let albums = try await albums.all()
        let isCancelled = Atomic(false)
        do {
            let shown = try await shownCovers(
                of: albums, files: { albums in await WorkThread.run { albums.map { ExportCover(fileOf: $0) } } },
                addressed: { albums in
                    try await coverFiles(of: albums).map { cached in
                        cached.map { ExportCover(digest: $0.digest, bytes: $0.bytes, mediaType: $0.mediaType) }
                    }
                })
            return try await withTaskCancellationHandler {
                try await WorkThread.run { [self] in
                    let covers = zip(albums, shown).map { album, shown in
                        var cover = shown?.found
                        if options.longestSide != nil, let found = cover, becomesJPEG(found) {
                            cover?.mediaType = "image/jpeg"
                        }
                        return (album: album, cover: cover)
                    }
                    let plan = ExportPlan(covers, options.pattern)
                    let path = configuration.libraryFile?.relativePath ?? ""
                    let journal = StepJournal(directory: AlbumStore.stateDirectory(of: path) + "/steps")
                    let folder = try ExportFolder(directory, journal, isDryRun: options.isDryRun)
                    var exporter = Exporter(
                        options, folder, library: try LibraryID.id(of: path, creates: !options.isDryRun),
                        coverPath: { $0.file ?? BytePath(self.coverFile($0.digest)) },
                        smaller: { cover in options.longestSide.flatMap { self.smaller(cover, longestSide: $0) } },
                        isCancelled: { isCancelled.load(ordering: .relaxed) }, onEvent: onEvent, progress: progress)
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

    /// Whether a cover of another type is written as a smaller JPEG. An animation is written as it is.
    private func becomesJPEG(_ cover: ExportCover) -> Bool {
        guard ["image/png", "image/webp"].contains(cover.mediaType) else { return false }
        let path = cover.file ?? BytePath(coverFile(cover.digest))
        let beginning = try? SourceFile(path: path.bytes).bytes(at: 0, count: ImageHeader.animationMark)
        return beginning.map { !$0.withUnsafeBytes { ImageHeader.isAnimated($0) } } ?? true
    }

    private func smaller(_ cover: ExportCover, longestSide: Int) -> [UInt8]? {
        guard let file = cover.file else { return (try? coverBytes(cover.digest, longestSide: longestSide)) ?? nil }
        guard let bytes = try? SourceFile(path: file.bytes).contents(), Digest(of: bytes) == cover.digest else {
            return nil
        }
        if let small = Cover.resized(bytes, longestSide: longestSide) { return small }
        // A baseline JPEG that is small enough is used as it is.
        return bytes.withUnsafeBytes { ImageHeader($0)?.mediaType } == "image/jpeg" ? bytes : nil
    }

    /// - Throws: `LibraryError` if a directory, which need not exist, is in the cache.
    private func refuseCache(_ directory: String) throws(LibraryError) {
        let cache = FilePath.resolvingLinks(configuration.cacheDirectory.relativePath)
        var existing = directory
        while access(existing, F_OK) != 0, errno == ENOENT, ![".", "/"].contains(existing) {
            existing = FilePath.directory(of: existing)
        }
        if (FilePath.resolvingLinks(existing) + "/").hasPrefix(cache + "/") {
            throw .unwritableFile(path: directory, reason: "it is in the cache; name another folder")
        }
    }
}

extension ExportCover {
    /// The cover file beside the album's music; nil without one that can be read and is a picture.
    fileprivate init?(fileOf album: Album) {
        guard let path = album.coverFilePath, let cover = Cover(fileOf: album), let digest = Digest(cover.digest) else {
            return nil
        }
        self.init(
            digest: digest, bytes: cover.data.count, mediaType: cover.mediaType, file: BytePath(bytes: path))
    }
}
