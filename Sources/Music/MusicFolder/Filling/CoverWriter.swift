import AlbumLibrary
import CoverLibrary
import CoverSources
import Files
import ImageHeader
package import Platform

/// Writes cover files into music folders, and takes them back, on a thread of its own. It never replaces or removes a file, except one
/// that it wrote itself and that is unchanged since; `OwnFile` looks after that.
///
/// A file appears complete. It is remembered before that, so a killed fill leaves none that it does not know.
package actor CoverWriter {
    /// What became of one file.
    package enum Result: Sendable, Hashable {
        case written(WrittenFile, bytes: Int)
        /// The folder has a cover by now.
        case exists(BytePath)
        /// The cover is not larger than the file that it would replace.
        case notLarger(BytePath)
        /// A person has removed this cover from there.
        case removed(BytePath)
        case failed(folder: BytePath, reason: String)
        /// The file system is full or read-only.
        case noRoom(folder: BytePath, reason: String)
    }

    private nonisolated let thread = ThreadExecutor()
    let state: MusicState
    private let name: String
    /// The number of this fill.
    package nonisolated let run: Int64
    /// The first file that was written for each album since the library was last given what was found.
    private var unnoted: [String: WrittenFile] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - state: The writer's own from now on.
    ///   - name: Of the files, without the extension: one that `CoverName` knows.
    ///   - run: The number of the fill; nil for the next one.
    /// - Throws: `MusicState.Problem`.
    package init(_ state: MusicState, name: String, run: Int64? = nil) throws {
        try state.settleInterrupted()
        (self.state, self.name, self.run) = (state, name, try run ?? state.nextRun())
    }

    deinit { thread.shutdown() }

    /// Writes a cover into a folder.
    /// - Parameters:
    ///   - source: The cached cover's file.
    ///   - digest: What its bytes must have.
    ///   - judged: The key of the facts that the cover was judged for.
    ///   - titles: The album's, after which a cover may be named.
    ///   - url: Where a source had the cover; nil for the album's own URL.
    ///   - keepsFormer: Keep the file that it replaces, as undo has that from nowhere else.
    ///   - replacesLarger: Replace a file of an earlier fill even if the cover is not larger.
    package func write(
        _ source: String, _ digest: Digest, to target: FillJob.Target, of album: String, judged: String = "",
        titles: Set<String>,
        foundAt url: String? = nil, keepsFormer: Bool = false, replacesLarger: Bool = false
    ) -> Result {
        do {
            let cover = try CachedCover(source, digest)
            let folder = try OpenFolder(path: target.folder.bytes)
            folder.sweep()
            var file = WrittenFile(
                folder: target.folder, name: Array("\(name).\(cover.fileExtension)".utf8), digest: digest,
                width: cover.size?.width, height: cover.size?.height, album: album, run: run, foundURL: url)
            (file.root, file.disk, file.judged) = (try state.root(of: target.folder), folder.disk, judged)
            let result = try write(cover, &file, folder, target, titles, keepsFormer, replacesLarger)
            if case .written(let file, _) = result, unnoted[album] == nil { unnoted[album] = file }
            return result
        } catch let error as SystemError where [.full, .quota, .readOnly].contains(error.cause) {
            return .noRoom(folder: target.folder, reason: error.reason)
        } catch let error as SystemError {
            return .failed(folder: target.folder, reason: error.reason)
        } catch let refusal as OwnFile.Refusal {
            return .failed(folder: target.folder, reason: "the cover \(refusal.reason)")
        } catch {
            return .failed(folder: target.folder, reason: "\(error)")
        }
    }

    private func write(
        _ cover: borrowing CachedCover, _ file: inout WrittenFile, _ folder: OpenFolder, _ target: FillJob.Target,
        _ titles: Set<String>, _ keepsFormer: Bool, _ replacesLarger: Bool
    ) throws -> Result {
        guard let name = FileName(file.name) else {
            return .failed(folder: file.folder, reason: "\(self.name) cannot be a file's name")
        }
        if let former = target.former, let formerName = FileName(former.name) {
            let formerFile = OwnFile(formerName, in: folder, state.journal)
            let isSame = replacesLarger && former.digest == file.digest
            guard try !isSame && formerFile.digest() == former.digest else { return .exists(former.path) }
            let isLarger = replacesLarger || (file.pixelCount ?? 0) > (former.pixelCount ?? 0)
            guard isLarger || former.album != file.album else { return .notLarger(former.path) }
            if keepsFormer { try state.keep(former) }
            file.replaced = .init(name: former.name, digest: former.digest, run: former.run)
            let new = try cover.copy(in: folder)
            if former.name == file.name {
                try save(&file, new)
                do {
                    try formerFile.replace(.init(former.digest, isOwn: true), by: new)
                } catch {
                    try state.save(former)
                    guard case OwnFile.Refusal.changed = error else { throw error }
                    return .exists(former.path)
                }
                return .written(file, bytes: cover.length)
            }
            if let result = try create(cover, new, &file, OwnFile(name, in: folder, state.journal), target, titles) {
                return result
            }
            try formerFile.remove(.init(former.digest, isOwn: true))
            try state.forget(former)
            return .written(file, bytes: cover.length)
        }
        if let found = try state.cover(titles, in: folder, at: file.folder) { return .exists(found.path) }
        let own = OwnFile(name, in: folder, state.journal)
        return try create(cover, try cover.copy(in: folder), &file, own, target, titles)
            ?? .written(file, bytes: cover.length)
    }

    /// Removes a file of this run, if it is unchanged. - Returns: Whether it was.
    package func takeBack(_ file: WrittenFile) -> Bool {
        guard let folder = try? OpenFolder(path: file.folder.bytes) else { return false }
        if unnoted[file.album]?.path == file.path { unnoted[file.album] = nil }
        return (try? remove(file, in: folder)) != nil && (try? state.forget(file)) != nil
    }

    func remove(_ file: WrittenFile, in folder: OpenFolder) throws {
        guard let name = FileName(file.name) else { return }
        try OwnFile(name, in: folder, state.journal).remove(.init(file.digest, isOwn: true))
    }

    /// - Returns: Nil if the file is there.
    private func create(
        _ cover: borrowing CachedCover, _ new: NewFile, _ file: inout WrittenFile, _ own: OwnFile,
        _ target: FillJob.Target, _ titles: Set<String>
    ) throws -> Result? {
        if let owner = SongOwner(of: target.audioFolders) { new.setOwner(owner.user, owner.group, mode: owner.mode) }
        try new.sync()
        // A killed upgrade to another type has left it.
        let isLeft = try state.wrote(file) && own.digest() == file.digest
        try save(&file, new)
        do throws(SystemError) {
            if !isLeft { try own.create(new) }
            try own.folder.sync()
            return nil
        } catch {
            // Without its name there is no file to remember.
            try state.forget(file)
            guard error.cause == .exists else { throw error }
            let found: CoverFile? = try state.cover(titles, in: own.folder, at: file.folder)
            if let found, target.former?.path != found.path { return .exists(found.path) }
            return .failed(
                folder: file.folder,
                reason: "something that is no cover has the name of the file; remove or rename it")
        }
    }

    private func save(_ file: inout WrittenFile, _ new: NewFile) throws {
        file.modified = FileStatus(try new.status()).modified
        try state.save(file)
    }

    /// What a person has said about the covers of albums by now, by the albums' ids.
    func decisions() throws -> [String: Decisions] { try state.decisions() }

    func decisions(of album: String) throws -> Decisions { try state.decisions(of: album) }

    /// Changes the cover URLs of albums of the library, and remembers them: what a fill has added is no edit of a person.
    /// - Throws: `MusicState.Problem`, `LibraryError`.
    func edit(_ albums: [(former: Album, album: Album)], in library: LibraryAPI) async throws {
        // Before the library: a process that dies between the two must not take its own work for a person's.
        let urls = albums.filter { $0.album.coverURL != $0.former.coverURL }.map { ($0.album.id, $0.album.coverURL) }
        try state.note(coverURLs: Dictionary(urls) { first, _ in first })
        try await library.albums.edit(albums, run: "fill \(run)")
    }

    /// What the library may not know yet, by albums: the URLs at which sources had the covers of written files, and the files.
    func unnotedCovers() throws -> (urls: [String: String], files: [String: WrittenFile]) {
        (try state.foundURLs(), unnoted)
    }

    /// The library knows what was found.
    func didNoteCovers() throws {
        unnoted = [:]
        try state.forgetFoundURLs()
    }
}

/// A cover's file in the cache, whose bytes have their digest.
struct CachedCover: ~Copyable {
    private let source: SourceFile
    let fileExtension: String
    let size: PixelSize?
    var length: Int { source.length }

    struct Damaged: Error, CustomStringConvertible { var description: String { "the cached cover is damaged" } }

    /// - Throws: `SystemError` or `Damaged`.
    init(_ path: String, _ digest: Digest) throws {
        let source = try SourceFile(path: path)
        let bytes = try source.contents()
        guard Digest(of: bytes) == digest else { throw Damaged() }
        let header = bytes.withUnsafeBytes { ImageHeader($0) }
        fileExtension = PictureType.fileExtension(header?.mediaType ?? "image/jpeg")
        size = PixelSize(header?.width, header?.height)
        self.source = source
    }

    /// A new file with the same bytes.
    /// - Throws: `SystemError`.
    func copy(in folder: OpenFolder) throws -> NewFile {
        let new = try NewFile(in: folder)
        try new.copy(source)
        return new
    }
}
