import AlbumLibrary
import CoverLibrary
package import CoverSources
import Files
import ImageHeader
import Platform

/// Writes cover files into music folders, on a thread of its own. It never replaces or removes a file, except one
/// that it wrote itself and that is unchanged since; `OwnFile` looks after that.
///
/// A file appears complete. It is remembered before that, so a killed fill leaves none that it does not know: `MusicState.begin` is the gate.
package actor CoverWriter {
    /// What became of one file.
    package enum Result: Sendable, Hashable {
        case written(Written, bytes: Int)
        /// The folder has a cover by now.
        case exists(BytePath)
        /// The cover is not larger than the file that it would replace.
        case notLarger(BytePath)
        /// It may not be written there.
        case refused(Objection)
        case failed(folder: BytePath, reason: String)
        /// The file system is full or read-only.
        case noRoom(folder: BytePath, reason: String)
    }

    private nonisolated let thread = ThreadExecutor()
    let state: MusicState
    private let name: String
    private let options: FillOptions
    /// The number of this fill.
    package nonisolated let run: Int64
    /// The first file that was written for each album since the library was last given what was found.
    private var unnoted: [String: Written] = [:]
    /// The files of this run that were removed again.
    private var takenBack: [Written] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - state: The writer's own from now on.
    ///   - name: Of the files, without the extension: one that `CoverName` knows.
    ///   - run: The number of the fill; nil for the next one.
    /// - Throws: `MusicState.Problem`.
    package init(
        _ state: MusicState, name: String, run: Int64? = nil, options: FillOptions = .init()
    ) throws {
        try state.settleBegun()
        (self.state, self.name, self.run, self.options) = (state, name, try run ?? state.nextRun(), options)
    }

    deinit { thread.shutdown() }

    /// Whether a picture may be written for an album, wherever; what speaks against it.
    func objection(to picture: FillPicture, for album: String) throws -> Objection? {
        try state.mayWrite(picture, for: album, options)
    }

    /// Writes a cover into a folder.
    /// - Parameters:
    ///   - titles: The album's, after which a cover may be named.
    ///   - url: Where a source had the cover; nil for the album's own URL.
    ///   - facts: Those that it was judged for.
    ///   - keepsFormer: Keep the file that it replaces, as undo has that from nowhere else.
    package func write(
        _ picture: FillPicture, to target: FillJob.Target, of album: String, titles: Set<String>,
        foundAt url: String? = nil, facts: AlbumQuery? = nil, keepsFormer: Bool = false
    ) -> Result {
        do {
            let cover = try CachedCover("\(picture.path)", picture.digest)
            let folder = try OpenFolder(path: target.folder.bytes)
            folder.sweep()
            var row = Written(
                folder: target.folder, name: Array("\(name).\(cover.fileExtension)".utf8), digest: picture.digest,
                width: cover.size?.width, height: cover.size?.height, album: album, run: run, url: url)
            (row.root, row.disk) = (try state.root(of: target.folder), folder.disk)
            (row.replaced, row.length, row.facts) = (target.former?.number, cover.length, facts)
            if let result = try obstacle(picture, row, folder, target, titles) { return result }
            if keepsFormer, let former = target.former { try state.keep(former) }
            let result = try write(cover, picture, row, folder, target, titles)
            if case .written(let file, _) = result, unnoted[album] == nil { unnoted[album] = file }
            return result
        } catch let objection as Objection {
            return .refused(objection)
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

    /// What is in the place already; nil if the cover may be written there.
    private func obstacle(
        _ picture: FillPicture, _ row: Written, _ folder: OpenFolder, _ target: FillJob.Target, _ titles: Set<String>
    ) throws -> Result? {
        guard let former = target.former, let name = FileName(former.name) else {
            return try state.cover(titles, in: folder, at: row.folder).map { .exists($0.path) }
        }
        let isAccepted = picture.offer?.match == .accepted
        let isJudgedAgain = target.outdated.map { $0.cause != .album } == true
        let isSame = (isAccepted || isJudgedAgain) && former.digest == row.digest
        guard try !isSame && OwnFile(name, in: folder, state.journal).digest() == former.digest else {
            if isSame {
                try state.set(former, judgedFor: row.facts)
                // Its bytes may be known by the name of another service's entry, which was refused before this one was accepted.
                try state.insert(picture.name, of: row.digest)
            }
            return .exists(former.path)
        }
        let isWanted = isAccepted || target.outdated != nil || (row.pixelCount ?? 0) > (former.pixelCount ?? 0)
        return isWanted ? nil : .notLarger(former.path)
    }

    private func write(
        _ cover: borrowing CachedCover, _ picture: FillPicture, _ row: Written, _ folder: OpenFolder,
        _ target: FillJob.Target, _ titles: Set<String>
    ) throws -> Result {
        guard let name = FileName(row.name) else {
            return .failed(folder: row.folder, reason: "\(self.name) cannot be a file's name")
        }
        var row = row
        let former = target.former
        let (file, new) = (OwnFile(name, in: folder, state.journal), try cover.copy(in: folder))
        if former?.name != row.name {
            if let owner = SongOwner(of: target.audioFolders) {
                new.setOwner(owner.user, owner.group, mode: owner.mode)
            }
            try new.sync()
        }
        row.modified = FileStatus(try new.status()).modified
        row = try state.begin(row, picture, options)
        var isThere = false
        do {
            if let former, former.name == row.name {
                try file.replace(.init(former.digest, isSleeves: true), by: new)
            } else {
                try file.create(new)
                isThere = true
                try folder.sync()
                if let former {
                    do { try state.remove(former, in: folder) } catch {
                        try state.remove(row, in: folder)
                        isThere = false
                        throw error
                    }
                }
            }
        } catch {
            // A row whose file is there stays as begun: the next start settles it. Without one the file would be a person's.
            if isThere { throw error }
            try state.forget(row)
            if case OwnFile.Refusal.changed = error, let former { return .exists(former.path) }
            guard (error as? SystemError)?.cause == .exists else { throw error }
            let found: CoverFile? = try state.cover(titles, in: folder, at: row.folder)
            if let found, target.former?.path != found.path { return .exists(found.path) }
            return .failed(
                folder: row.folder,
                reason: "something that is no cover has the name of the file; remove or rename it")
        }
        return .written(try state.set(row, .there), bytes: cover.length)
    }

    /// Removes a file of this run, if it is unchanged. - Returns: Whether it was.
    package func takeBack(_ file: Written) -> Bool {
        let row = try? state.leave(file) { leaving in
            try state.remove(file, in: OpenFolder(path: file.folder.bytes))
            return leaving
        }
        guard let row else { return false }
        if unnoted[file.album]?.path == file.path { unnoted[file.album] = nil }
        takenBack.append(row)
        return true
    }

    /// What a person has said about the covers of albums by now, by the albums' ids.
    func decisions() throws -> [String: Decisions] { try state.decisions() }

    /// What the library may not know yet, by albums: the URLs at which sources had the covers of written files, and the files. And the addresses
    /// that it has from fills.
    func unnotedCovers() throws -> (
        urls: [String: String], files: [String: Written], filled: [String: FilledAddress]
    ) {
        let urls = try state.unnotedURLs()
        return (urls, unnoted, urls.isEmpty && unnoted.isEmpty ? [:] : try state.filledAddresses())
    }

    /// The library has lost the addresses of what was taken back.
    func forgetTakenBack() throws {
        for row in takenBack { try state.forget(row) }
        takenBack = []
    }

    /// The library knows what was found.
    func didNoteCovers() throws {
        unnoted = [:]
        try state.noteAddresses()
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

/// To whom a cover beside songs belongs, and who may read it: those who may read most of the songs.
struct SongOwner: Hashable {
    let user: uid_t, group: gid_t, mode: mode_t

    private init(_ song: stat) {
        // A cover is no program, and its owner can always replace it.
        (user, group, mode) = (song.st_uid, song.st_gid, song.st_mode & 0o666 | 0o600)
    }

    /// Of equally many songs those of the first one count; of a link, what it leads to. Nil without any song.
    init?(of folders: [BytePath]) {
        var (owners, counts): ([SongOwner], [SongOwner: Int]) = ([], [:])
        for folder in folders.lazy.compactMap({ try? OpenFolder(path: $0.bytes) }) {
            let names = ((try? folder.names()) ?? []).filter { MusicNames.isAudio($0.bytes) }
            for name in names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
                guard let song = try? folder.status(of: name, followingLinks: true) else { continue }
                let owner = SongOwner(song)
                if counts[owner] == nil { owners.append(owner) }
                counts[owner, default: 0] += 1
            }
        }
        let most = counts.values.max()
        guard let owner = owners.first(where: { counts[$0] == most }) else { return nil }
        self = owner
    }
}
