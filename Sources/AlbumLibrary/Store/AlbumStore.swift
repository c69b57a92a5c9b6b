package import Logging
import Platform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A snapshot of a library's albums.
package struct AlbumList: Sendable {
    package var albums: [Album]
    /// Changes whenever the library file does.
    package var revision: String
}

/// Reads and edits the albums of a library file, which other processes and text editors may change too.
///
/// An edit holds the lock while it reads the current file, records the step in the journal, and replaces the file. The step
/// is on the disk, marked pending, before the file changes. If the process dies between the two, the next edit repeats it.
package actor AlbumStore {
    private nonisolated let thread = ThreadExecutor()
    private let path: String
    let remote: RemoteLibrary?
    /// Whether `sendEdits` is running.
    var isSending = false
    private let logger: Logger
    /// A damaged file that was written within this time, in seconds, may be in the middle of being saved.
    private let patience: Double
    /// Called after the albums changed, in this process or another.
    private let changed: @Sendable () -> Void
    private var list: AlbumList?
    private var folder: LibraryFolder?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(
        path: String, remote: RemoteLibrary?, logger: Logger, patience: Double = 2,
        changed: @escaping @Sendable () -> Void
    ) {
        // Symbolic links are resolved: a library has one lock and one history.
        self.path = AtomicFile.resolvingLinks(path)
        self.remote = remote
        self.logger = logger
        self.patience = patience
        self.changed = changed
    }

    deinit { thread.shutdown() }

    // MARK: Reading

    /// The albums in the file now.
    /// - Throws: `LibraryError`.
    package func current() throws -> AlbumList {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw LibraryError(message: "cannot keep a library in \(path): it is not a file")
        }
        if let list, list.revision == Self.revision(of: path) { return list }
        if folder == nil {
            // A library in a read-only directory can still be read.
            guard let folder = try? openFolder() else {
                try createIfMissing()
                return keep(try AlbumFile.read(path))
            }
            if try folder.journal.pending() != nil { try locked(folder) { try finishPending(folder) } }
        }
        do {
            if try !isFirstUse() { return keep(try AlbumFile.read(path)) }
        } catch {}
        let folder = try openFolder()
        return try locked(folder) { keep(try readOrMend(folder)) }
    }

    /// The albums as last returned.
    package func last() throws -> AlbumList { try list ?? current() }

    /// Creates the library file if there never was one.
    /// - Returns: true if the file is missing and its last good copy must be restored.
    private func isFirstUse() throws -> Bool {
        let files = FileManager.default
        if files.fileExists(atPath: path) { return false }
        if let folder, files.fileExists(atPath: folder.lastGood) { return true }
        try createIfMissing()
        return false
    }

    private func createIfMissing() throws {
        if try AlbumFile.createIfMissing(path) {
            logger.notice("created \(path) with twelve starter albums; run `sleeve origin` to serve their covers")
        }
    }

    /// Call it with the lock held.
    private func readOrMend(_ folder: LibraryFolder) throws -> [Album] {
        let isThere = FileManager.default.fileExists(atPath: path)
        do {
            if isThere || !FileManager.default.fileExists(atPath: folder.lastGood) {
                try createIfMissing()
                return try AlbumFile.read(path)
            }
        } catch {
            // A text editor may be in the middle of saving it.
            while Self.age(of: path) < patience {
                usleep(100_000)
                if let albums = try? AlbumFile.read(path) { return albums }
            }
            guard access(path, R_OK) == 0, (try? AlbumFile.read(folder.lastGood)) != nil else { throw error }
            let aside = try folder.setAside(path)
            logger.warning("\(error); moved it to \(aside) and restored the last good copy")
        }
        let albums = try AlbumFile.read(folder.lastGood)
        if !isThere { logger.warning("\(path) is missing; restored the last good copy from \(folder.lastGood)") }
        try write(albums, folder)
        return albums
    }

    private func keep(_ albums: [Album]) -> AlbumList {
        let revision = Self.revision(of: path)
        let isNew = list != nil && list?.revision != revision
        let list = AlbumList(albums: albums, revision: revision)
        self.list = list
        if let folder { keepLastGood(albums, folder) }
        if isNew { changed() }
        return list
    }

    /// Copies the albums that were just read whole. A failure to write the copy is ignored.
    private func keepLastGood(_ albums: [Album], _ folder: LibraryFolder) {
        let bytes = AlbumFile.text(of: albums)
        guard FileManager.default.contents(atPath: folder.lastGood).map({ Array($0) }) != bytes,
            var copy = try? AtomicFile(bytes, replacing: folder.lastGood)
        else { return }
        try? copy.replace()
    }

    private static func age(of path: String) -> Double {
        guard let written = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date else {
            return .infinity
        }
        // A time in the future is of no use.
        let age = Date().timeIntervalSince(written)
        return age >= 0 ? age : .infinity
    }

    // MARK: Editing

    /// A step to take.
    package enum Wish {
        /// From `index` on; nil: at the end. Albums whose id is taken are left out if `skipsKnown`, else get another id.
        case add([Album], at: Int?, skipsKnown: Bool)
        case delete([Album.ID])
        /// Changes the fields that differ between the two, in the album that has the first one's id.
        case edit(from: Album, to: Album)
        case undo, redo
        /// Writes the file in the library's own form.
        case save
    }

    /// Takes a step. - Returns: what changed; nil if there was nothing to do.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    package func edit(_ wish: Wish) throws -> AlbumEdit? {
        _ = try current()
        let folder = try openFolder()
        return try locked(folder) {
            try finishPending(folder)
            var albums = try readOrMend(folder)
            guard let (step, wanted) = try plan(wish, albums, folder.journal) else {
                if case .save = wish { try write(albums, folder) }
                return nil
            }
            let change = wanted.effective(in: albums)
            change.apply(to: &albums)
            var file = try AtomicFile(AlbumFile.text(of: albums), replacing: path, isLocked: true)
            let messages = remote.map { remote in RemoteMessage.telling(change, to: remote.url) } ?? []
            try folder.journal.record(step, changing: change, messages: messages)
            try file.replace()
            // A step left pending is repeated, which changes nothing.
            try? folder.journal.settle()
            _ = keep(albums)
            return change
        }
    }

    private func plan(
        _ wish: Wish, _ albums: [Album], _ journal: AlbumJournal
    ) throws -> (AlbumJournal.Step, change: AlbumEdit)? {
        switch wish {
        case .add(let new, let index, let skipsKnown):
            var taken = Set(albums.map(\.id))
            let added = new.compactMap { album -> Album? in
                if skipsKnown, taken.contains(album.id) { return nil }
                var album = album
                album.id = AlbumFile.unusedID(album.id) { taken.contains($0) }
                taken.insert(album.id)
                return album
            }
            if added.isEmpty { return nil }
            let edit = albums.adding(added, at: min(max(index ?? albums.count, 0), albums.count))
            return (.new(edit), edit)
        case .delete(let ids):
            let gone = Set(ids)
            let indices = albums.indices.filter { gone.contains(albums[$0].id) }
            if indices.isEmpty { return nil }
            let edit = albums.deleting(Array(indices))
            return (.new(edit), edit)
        case .edit(let former, let album):
            let wanted = AlbumEdit(
                kind: .edit, placed: [.init(album: album, index: 0, after: nil, former: former)])
            let edit = wanted.effective(in: albums)
            return edit.placed.isEmpty ? nil : (.new(edit), edit)
        case .undo: return try journal.steps().undo.map { (.undo, $0.inverse) }
        case .redo: return try journal.steps().redo.map { (.redo, $0) }
        case .save: return nil
        }
    }

    private func finishPending(_ folder: LibraryFolder) throws {
        guard let change = try folder.journal.pending() else { return }
        var albums = try readOrMend(folder)
        let before = albums
        change.apply(to: &albums)
        if albums != before { try write(albums, folder) }
        try folder.journal.settle()
        _ = keep(albums)
    }

    private func write(_ albums: [Album], _ folder: LibraryFolder) throws {
        var file = try AtomicFile(AlbumFile.text(of: albums), replacing: path, isLocked: true)
        try file.replace()
        keepLastGood(albums, folder)
    }

    // MARK: The journal

    /// Reads or updates the journal.
    /// - Throws: `LibraryError`.
    package func journal<Result: Sendable>(_ body: (AlbumJournal) throws -> Result) throws -> Result {
        let folder = try openFolder()
        do { return try body(folder.journal) } catch { throw Self.error(error, folder) }
    }

    /// The folder beside the library file, which holds lock files too.
    func folderPath() throws -> String { try openFolder().path }

    private func openFolder() throws -> LibraryFolder {
        if let folder { return folder }
        let opened = try LibraryFolder(besides: path) { logger.warning("\($0)") }
        folder = opened
        return opened
    }

    private func locked<Result>(_ folder: LibraryFolder, _ body: () throws -> Result) throws -> Result {
        do { return try folder.lock.withLock(body) } catch { throw Self.error(error, folder) }
    }

    private static func error(_ error: any Error, _ folder: LibraryFolder) -> LibraryError {
        if let error = error as? LibraryError { return error }
        if let error = error as? SystemError { return LibraryError(error) }
        return LibraryError(message: "cannot use the library's history in \(folder.path): \(error)")
    }

    private static func revision(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "none" }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return [Int(status.st_ino), Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
            .map { String($0, radix: 36) }.joined(separator: "-")
    }
}
