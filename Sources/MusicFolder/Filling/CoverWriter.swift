import AlbumLibrary
import CoverLibrary
import ImageHeader
package import Platform

/// Writes cover files into music folders, on a thread of its own. It never replaces or removes a file, except one that it wrote itself and
/// that is unchanged since.
///
/// A file appears complete: it is written under a name that begins with a dot, synced and renamed. It is remembered before that, so a
/// killed fill leaves none that it does not know.
package actor CoverWriter {
    /// What became of one file.
    package enum Result: Sendable, Hashable {
        case written(WrittenFile, bytes: Int)
        /// The folder has a cover by now.
        case exists(BytePath)
        /// The cover is not larger than the file that it would replace.
        case notLarger(BytePath)
        case failed(folder: BytePath, reason: String)
        /// The file system is full or read-only.
        case noRoom(folder: BytePath, reason: String)
    }

    private nonisolated let thread = ThreadExecutor()
    private let state: MusicState
    private let name: String
    /// The number of this fill.
    package nonisolated let run: Int64

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - state: The writer's own from now on.
    ///   - name: Of the files, without the extension: one that `CoverName` knows.
    /// - Throws: `MusicState.Problem`.
    package init(_ state: MusicState, name: String) throws {
        (self.state, self.name, run) = (state, name, (try state.runs().first ?? 0) + 1)
    }

    deinit { thread.shutdown() }

    /// Writes a cover into a folder.
    /// - Parameters:
    ///   - source: The cached cover's file.
    ///   - digest: What its bytes must have.
    ///   - title: The album's, after which a cover may be named.
    ///   - url: Where a source had the cover; nil for the album's own URL.
    package func write(
        _ source: String, _ digest: Digest, to target: FillJob.Target, of album: String, title: String,
        foundAt url: String? = nil
    ) -> Result {
        do {
            return try place(source, digest, target, album, title, url)
        } catch let error as SystemError where error.cause == .exists {
            return .failed(
                folder: target.folder,
                reason: "something that is no cover has the name of the file; remove or rename it")
        } catch let error as SystemError where [ENOSPC, EDQUOT, EROFS].contains(error.number) {
            return .noRoom(folder: target.folder, reason: error.reason)
        } catch let error as SystemError {
            return .failed(folder: target.folder, reason: error.reason)
        } catch {
            return .failed(folder: target.folder, reason: "\(error)")
        }
    }

    private func place(
        _ source: String, _ digest: Digest, _ target: FillJob.Target, _ album: String, _ title: String,
        _ url: String?
    ) throws -> Result {
        let cover = try SourceFile(path: source)
        let bytes = try cover.contents()
        guard Digest(of: bytes) == digest else {
            return .failed(folder: target.folder, reason: "the cached cover is damaged")
        }
        let header = bytes.withUnsafeBytes { ImageHeader($0) }
        let folder = try OpenFolder(path: target.folder.bytes)
        folder.sweep()
        var file = WrittenFile(
            folder: target.folder,
            name: Array("\(name).\(PictureType.fileExtension(header?.mediaType ?? "image/jpeg"))".utf8), digest: digest,
            width: header?.width, height: header?.height, album: album, run: run, foundURL: url)
        if let former = target.former {
            guard try isUnchanged(former, folder) else { return .exists(former.path) }
            guard (file.pixelCount ?? 0) > (former.pixelCount ?? 0) else { return .notLarger(former.path) }
            file.replaced = .init(name: former.name, digest: former.digest, run: former.run)
        } else if let found = try coverFile(in: folder, title: title) {
            return .exists(target.folder.appending(found.bytes))
        }
        guard let fileName = FileName(file.name) else {
            return .failed(folder: target.folder, reason: "\(name) cannot be a file's name")
        }
        try commit(&file, as: fileName, cover, folder, target)
        if let former = target.former, former.name != file.name, let formerName = FileName(former.name) {
            // It was unchanged a moment ago, and is not needed any more.
            try folder.remove(formerName)
            try state.forget(former)
        }
        try folder.sync()
        return .written(file, bytes: cover.length)
    }

    private func commit(
        _ file: inout WrittenFile, as name: FileName, _ cover: borrowing SourceFile, _ folder: OpenFolder,
        _ target: FillJob.Target
    ) throws {
        let new = try NewFile(in: folder)
        try new.copy(cover)
        if let audio = try Self.audioStatus(target.audioFolder) {
            // Readable by those who may read the music; a cover is no program.
            new.setOwner(audio.st_uid, audio.st_gid, mode: audio.st_mode & 0o666 | 0o600)
        }
        try new.sync()
        file.modified = FileStatus(try new.status()).modified
        try state.save(file)
        do {
            try new.commit(as: name, replacing: target.former?.name == file.name)
        } catch {
            // Without its name there is no file to remember.
            try state.forget(file)
            if let former = target.former { try state.save(former) }
            throw error
        }
    }

    /// Whether a file is still what a fill wrote.
    private func isUnchanged(_ file: WrittenFile, _ folder: OpenFolder) throws -> Bool {
        guard let name = FileName(file.name), try folder.status(of: name) != nil else { return false }
        return try folder.file(name).digest() == file.digest
    }

    /// The cover in a folder, under whichever name.
    private func coverFile(in folder: OpenFolder, title: String) throws -> FileName? {
        try folder.names().first { name in
            guard CoverName(name.bytes, album: title) != nil, let status = try folder.status(of: name) else {
                return false
            }
            // A link is a person's, too.
            return status.st_size > 0 && [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
        }
    }

    /// The status of the first audio file in a folder.
    private static func audioStatus(_ path: BytePath) throws -> stat? {
        let folder = try OpenFolder(path: path.bytes)
        for name in try folder.names().sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        where MusicNames.isAudio(name.bytes) {
            return try folder.status(of: name)
        }
        return nil
    }

    /// Changes the cover URLs of albums of the library, and remembers them: what a fill has added is no edit of a person.
    /// - Throws: `MusicState.Problem`, `LibraryError`.
    func edit(_ albums: [(former: Album, album: Album)], in library: LibraryAPI) async throws {
        // Before the library: a process that dies between the two must not take its own work for a person's.
        try state.note(
            coverURLs: Dictionary(albums.map { ($0.album.id, $0.album.coverURL) }) { first, _ in first })
        try await library.albums.edit(albums, run: "fill \(run)")
    }

    /// The URLs at which sources had the covers of written files, by albums, of which the library may not know yet.
    func foundURLs() throws -> [String: String] { try state.foundURLs() }
    func forgetFoundURLs() throws { try state.forgetFoundURLs() }

    // MARK: Undo

    /// What became of a file that is taken back.
    package enum Undone: Sendable, Hashable {
        case removed(BytePath, album: String)
        /// The smaller cover that it had replaced is there again.
        case restored(BytePath)
        /// It was changed since, or is gone, and stays as it is.
        case kept(BytePath)
        case failed(BytePath, reason: String)
        /// Its disk may not be mounted. It stays remembered.
        case away(BytePath)
    }

    /// Removes the files of the last fill that are unchanged, and puts back those that they replaced. If none of them can be taken back, also
    /// those of the fill before.
    /// - Parameters:
    ///   - isDryRun: Say what would be done, and do nothing.
    ///   - cached: The path of a cached cover's file.
    ///   - tags: Takes the covers of a fill out of tags. Returns whether there were any.
    /// - Throws: `MusicState.Problem`, or what `tags` throws.
    package func undo(
        isDryRun: Bool = false, cached: @Sendable (Digest) -> String,
        tags: @Sendable (Int64) async throws -> Bool = { _ in false }
    ) async throws -> [Undone] {
        var results: [Undone] = []
        for run in try state.runs() {
            let undone = try state.files(ofRun: run).map { file in
                do {
                    return try undo(file, isDryRun, cached)
                } catch let error as SystemError {
                    return .failed(file.path, reason: error.reason)
                }
            }
            results += undone
            let hadTags = try await tags(run)
            if hadTags || undone.contains(where: { if case .failed = $0 { false } else { true } }) { break }
        }
        return results
    }

    /// Removes a file of this run, if it is unchanged. - Returns: Whether it was.
    package func takeBack(_ file: WrittenFile) -> Bool {
        guard case .removed? = try? undo(file, false, { _ in "" }) else { return false }
        return true
    }

    /// Forgets where the covers of albums were found. - Returns: For each, the URL that a fill has given to the album of the library.
    /// - Throws: `MusicState.Problem`.
    package func forgetCoverURLs(of albums: [String]) throws -> [String: String] {
        try state.note(coverURLs: Dictionary(albums.map { ($0, nil) }) { first, _ in first })
    }

    private func undo(_ file: WrittenFile, _ isDryRun: Bool, _ cached: (Digest) -> String) throws -> Undone {
        let folder: OpenFolder
        do {
            folder = try OpenFolder(path: file.folder.bytes)
        } catch  where error.number == ENOENT {
            if try state.isAway(file.folder) { return .away(file.path) }
            if !isDryRun { try state.forget(file) }
            return .kept(file.path)
        }
        guard let name = FileName(file.name), try isUnchanged(file, folder) else {
            if !isDryRun { try state.forget(file) }
            return .kept(file.path)
        }
        if isDryRun {
            if let replaced = file.replaced { return .restored(file.folder.appending(replaced.name)) }
            return .removed(file.path, album: file.album)
        }
        if let replaced = file.replaced, let former = FileName(replaced.name) {
            return try restore(replaced, as: former, in: folder, in: file, name, cached(replaced.digest))
        }
        try folder.remove(name)
        try folder.sync()
        try state.forget(file)
        return .removed(file.path, album: file.album)
    }

    private func restore(
        _ replaced: WrittenFile.Replaced, as former: FileName, in folder: OpenFolder, in file: WrittenFile,
        _ name: FileName, _ cached: String
    ) throws -> Undone {
        let source = try SourceFile(path: cached)
        let bytes = try source.contents()
        guard Digest(of: bytes) == replaced.digest else {
            return .failed(file.path, reason: "the cover that it replaced is not cached any more")
        }
        let new = try NewFile(in: folder)
        try new.copy(source)
        if let status = try folder.status(of: name) { new.setOwner(status.st_uid, status.st_gid, mode: status.st_mode) }
        try new.sync()
        let header = bytes.withUnsafeBytes { ImageHeader($0) }
        var restored = file
        (restored.name, restored.digest, restored.replaced) = (replaced.name, replaced.digest, nil)
        (restored.width, restored.height, restored.run) = (header?.width, header?.height, replaced.run)
        restored.modified = FileStatus(try new.status()).modified
        if former != name { try state.save(restored) }
        try new.commit(as: former, replacing: former == name)
        if former == name { try state.save(restored) } else { try folder.remove(name) }
        try folder.sync()
        if former != name { try state.forget(file) }
        return .restored(restored.path)
    }
}
