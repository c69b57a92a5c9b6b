package import Logging
import Platform
import Synchronization

/// A snapshot of a library's albums.
package struct AlbumList: Sendable {
    package var albums: [Album]
    /// Changes whenever the library file does.
    package var revision: String
}

/// The ends of a library's history.
public struct AlbumHistory: Sendable, Hashable, Codable {
    /// The step that `AlbumStore.undo` would revert; nil if there is none.
    public var undo: AlbumEdit?
    /// The step that `AlbumStore.redo` would repeat; nil if there is none.
    public var redo: AlbumEdit?

    /// A history without steps.
    public init() {}
}

/// The albums of a library file, their history, and the edits that wait for a remote library.
///
/// Other processes and text editors may change the file at any time. Every call sees their changes, and every edit is saved
/// when it returns. The history is unlimited and persistent.
///
/// An edit holds the lock while it reads the current file, records the step in the journal, and replaces the file. The step
/// is on the disk, marked pending, before the file changes. If the process dies between the two, the next edit repeats it.
/// A text editor knows no lock: if the file has changed since it was read, the edit is made again in what is there now.
///
/// Files are read and written on a thread of the store's own, which starts with the first call.
public actor AlbumStore {
    private nonisolated let thread = ThreadExecutor()
    let file: LibraryFile
    let remote: RemoteLibrary?
    let logger: Logger
    /// The pictures that a person gave as files; nil without a library file.
    package nonisolated let pictures: OwnPictures?
    /// Called after the albums changed, in this process or another.
    private let onChange: @Sendable () -> Void
    private var list: AlbumList?
    private let isClosed = Atomic(false)
    /// Whether `sendEdits` is running.
    var isSending = false

    /// The thread that reads and writes files.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameter path: The library file; `""` if there is none: every call throws then.
    package init(
        path: String, remote: RemoteLibrary?, logger: Logger, savingTimeout: Double = 5,
        onChange: @escaping @Sendable () -> Void
    ) {
        file = LibraryFile(path: path, logger: logger, savingTimeout: savingTimeout)
        pictures = path.isEmpty ? nil : OwnPictures(library: path)
        self.remote = remote
        self.logger = logger
        self.onChange = onChange
    }

    deinit { thread.shutdown() }

    /// Makes later calls throw `LibraryError.closed`.
    package nonisolated func close() { isClosed.store(true, ordering: .releasing) }

    // MARK: Albums

    /// All albums in the library's order; none if there is no library file. The first edit creates it. A damaged file is moved
    /// aside and its last good copy restored, with a warning to the configuration's logger.
    public func all() throws(LibraryError) -> [Album] { try current().albums }

    /// The albums with their revision.
    package func current() throws(LibraryError) -> AlbumList { try perform { try readCurrent() } }

    /// Elements when the library file may have changed. `current()` tells whether it has.
    package func fileChanges() -> AsyncStream<Void> { FolderChanges.stream(of: FilePath.directory(of: file.path)) }

    /// Adds an album.
    /// - Parameters:
    ///   - album: The album.
    ///   - index: Its index in the library, from 0. Default, and beyond the end: at the end.
    /// - Returns: The album as it is in the library, with another id if its own was taken, and without a cover file, which only a scan
    ///   finds.
    @discardableResult
    public func add(_ album: Album, at index: Int? = nil) throws(LibraryError) -> Album {
        let album = album.withoutCoverFile
        return try insert(album, at: index)?.changes.first?.album ?? album
    }

    /// Adds an album. - Returns: The step.
    package func insert(_ album: Album, at index: Int?) throws(LibraryError) -> AlbumEdit? {
        try take(.add([album], at: index, skipsKnown: false))
    }

    /// Adds albums at the end in one step, except those whose id is in the library.
    /// - Returns: The step; `nil` if no album was new.
    @discardableResult
    public func add(_ albums: [Album]) throws(LibraryError) -> AlbumEdit? {
        try insert(albums.map(\.withoutCoverFile))
    }

    /// The same with the cover files that a scan has found.
    @discardableResult
    package func insert(_ albums: [Album]) throws(LibraryError) -> AlbumEdit? {
        try take(.add(albums, at: nil, skipsKnown: true))
    }

    /// Deletes an album.
    /// - Returns: The album; `nil` if the library has no album of this id.
    @discardableResult
    public func delete(_ id: Album.ID) throws(LibraryError) -> Album? { try delete([id])?.changes.first?.album }

    /// Deletes albums in one step.
    /// - Returns: The step; `nil` if the library has none of them.
    @discardableResult
    public func delete(_ ids: [Album.ID]) throws(LibraryError) -> AlbumEdit? { try take(.delete(ids)) }

    /// Changes fields of an album in one step. The album keeps its index, its id, and every field that `change` leaves alone,
    /// even if another program changes it at the same time.
    ///
    /// ```swift
    /// try await library.albums.edit(album.id) { $0.year = "1971" }
    /// ```
    /// - Returns: The step; `nil` if the library has no album of this id, or nothing changed.
    /// - Throws: `LibraryError`, or the error of `change`.
    @discardableResult
    public nonisolated func edit(
        _ id: Album.ID, _ change: (inout Album) throws -> Void
    ) async throws -> AlbumEdit? {
        guard let former = try await all().first(where: { $0.id == id }) else { return nil }
        var album = former
        try change(&album)
        album.id = id
        // One of another library's album would be another's picture.
        if album.coverFile != former.coverFile { album.coverFile = former.coverFile }
        return try await take(.edit([(former, album)]))
    }

    /// Changes fields of albums in one step, each as `edit` does.
    /// - Parameters:
    ///   - changes: Albums as they were read, and as they are to be. They are found by the former's id.
    ///   - run: What all edits of a long run have in common. They are one step of the history, until there is another one.
    /// - Returns: What changed; nil if nothing did.
    @discardableResult
    package func edit(
        _ changes: [(former: Album, album: Album)], run: String? = nil
    ) throws(LibraryError) -> AlbumEdit? {
        try take(.edit(changes), run: run)
    }

    /// The directory beside a library file for what belongs to it.
    package static func stateDirectory(of library: String) -> String {
        StateDirectory.path(of: FilePath.resolvingLinks(library))
    }

    /// Writes the library file in the library's own form, with an id for every album. Edits save by themselves.
    public func save() throws(LibraryError) { try take(.save) }

    // MARK: History

    /// Reverts the last step, whichever process took it.
    /// - Parameter number: That of the edit to revert; `nil`: whichever is the last one.
    /// - Returns: What changed; `nil` if there is no step to revert.
    /// - Throws: `LibraryError.editedSince` if another edit came after the one of that number.
    @discardableResult
    public func undo(_ number: Int? = nil) throws(LibraryError) -> AlbumEdit? { try take(.undo(number)) }

    /// Repeats the step that `undo` reverted last. A new step discards the steps that could be repeated.
    /// - Parameter number: That of the undo to revert; `nil`: whichever is the last one.
    /// - Returns: What changed; `nil` if there is no step to repeat.
    /// - Throws: `LibraryError.editedSince` if another edit came after the undo of that number.
    @discardableResult
    public func redo(_ number: Int? = nil) throws(LibraryError) -> AlbumEdit? { try take(.redo(number)) }

    /// The steps that `undo` would revert and `redo` repeat.
    public func history() throws(LibraryError) -> AlbumHistory {
        try withJournal { try $0.steps() }
    }

    // MARK: Mementos

    /// Stores the position of a client, such as a browser.
    public func save(_ memento: LibraryMemento, for client: String) throws(LibraryError) {
        let memento = memento.addingNeighbours(in: try all())
        try withJournal { try $0.save(memento, for: client, now: WallClock.milliseconds()) }
    }

    /// The position of a client in the library as it is now; `nil` for an unknown client.
    public func memento(of client: String) throws(LibraryError) -> LibraryMemento? {
        let albums = try all()
        return try withJournal { try $0.memento(of: client) }?.restored(in: albums)
    }

    // MARK: Reading

    private func readCurrent() throws -> AlbumList {
        var status = stat()
        if stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw LibraryError.unreadableAlbums("cannot keep a library in \(file.path): it is not a file")
        }
        // Before the reading: if another process replaces the file meanwhile, the next call reads it again.
        let revision = file.revision
        if let list, list.revision == revision { return list }
        if !file.exists { return keep([], revision) }
        // A library in a read-only directory can be read, without a state directory.
        guard let state = try? file.openState() else { return keep(try file.read(), revision) }
        if list == nil { finishPendingIfPossible(state) }
        if !file.mustBeRestored {
            if let albums = try? file.read() { return keep(albums, revision) }
            // The next call looks again.
            if let list, file.mayBeIncomplete { return list }
        }
        return try state.lock.withLock { keep(try file.readOrRepair(state)) }
    }

    /// - Parameter revision: The file's revision; by default the present one, for callers that hold the lock.
    private func keep(_ albums: [Album], _ revision: String? = nil) -> AlbumList {
        let new = AlbumList(albums: albums, revision: revision ?? file.revision)
        let hasChanged = list.map { $0.revision != new.revision } ?? false
        list = new
        if file.exists { file.keepLastGood(albums) }
        if hasChanged { onChange() }
        return new
    }

    // MARK: Editing

    /// An edit to make.
    enum Edit {
        /// Inserts albums at an index; nil for the end. An album whose id is taken is left out or gets another id.
        case add([Album], at: Int?, skipsKnown: Bool)
        case delete([Album.ID])
        /// Changes the fields that differ between the two, in the album that has the first one's id.
        case edit([(former: Album, album: Album)])
        /// The number of the latest edit, if it is to be that one.
        case undo(Int?), redo(Int?)
        /// Writes the file in the library's own form.
        case save
    }

    /// Makes an edit. - Returns: What changed; nil if there was nothing to do.
    @discardableResult
    func take(_ edit: Edit, run: String? = nil) throws(LibraryError) -> AlbumEdit? {
        try perform {
            _ = try readCurrent()
            let state = try file.openState()
            return try state.lock.withLock {
                try finishPending(state)
                return try file.retrying { try take(edit, run, state) }
            }
        }
    }

    /// - Throws: `LibraryFile.Changed`, after which nothing has happened.
    private func take(_ edit: Edit, _ run: String?, _ state: StateDirectory) throws -> AlbumEdit? {
        let revision = file.revision
        var albums = try file.readOrRepair(state)
        guard let (step, planned) = try plan(edit, run, albums, state.journal) else {
            if case .save = edit { try file.write(albums, state, ifStill: revision) }
            return nil
        }
        var change = planned.effective(in: albums)
        change.apply(to: &albums)
        let replacement = try file.prepare(albums)
        let messages = remote.map { RemoteMessage.messages(for: change, to: $0.url) } ?? []
        let record = try state.journal.record(step, changing: change, messages: messages)
        do {
            try file.replace(replacement, with: albums, state, ifStill: revision)
        } catch {
            // The step failed: it must not be repeated as pending.
            try state.journal.withdraw(record)
            throw error
        }
        change.number = record.number
        // If this fails, the next edit repeats the step, which changes nothing.
        try? state.journal.clearPending()
        _ = keep(albums)
        return change
    }

    private func plan(
        _ edit: Edit, _ run: String?, _ albums: [Album], _ journal: AlbumJournal
    ) throws -> (AlbumJournal.Step, change: AlbumEdit)? {
        let step: AlbumEdit
        switch edit {
        case .add(let new, let index, let skipsKnown):
            var taken = Set(albums.map(\.id))
            let added = new.compactMap { album -> Album? in
                if skipsKnown, taken.contains(album.id) { return nil }
                var album = album
                album.id = Album.unusedID(album.id, &taken)
                return album
            }
            step = albums.adding(added, at: min(max(index ?? albums.count, 0), albums.count))
        case .delete(let ids):
            let ids = Set(ids)
            step = albums.deleting(albums.indices.filter { ids.contains(albums[$0].id) })
        case .edit(let edits):
            let changes = edits.map { former, album in
                var album = album
                album.id = former.id
                // A person who gives an album an address wants to see what is there.
                if album.coverURL?.isEmpty == false, album.coverURL != former.coverURL,
                    album.coverFile == former.coverFile
                {
                    album.coverFile = nil
                }
                return AlbumEdit.Change(album: album, index: 0, precedingID: nil, former: former)
            }
            step = AlbumEdit(kind: .edit, changes: changes).effective(in: albums)
        case .undo(let number): return try Self.steps(journal, after: number).undo.map { (.undo, $0.inverse) }
        case .redo(let number): return try Self.steps(journal, after: number).redo.map { (.redo, $0) }
        case .save: return nil
        }
        return step.changes.isEmpty ? nil : (.new(step, run: run), step)
    }

    private static func steps(_ journal: AlbumJournal, after number: Int?) throws -> AlbumHistory {
        let steps = try journal.steps()
        if let number, (steps.undo ?? steps.redo)?.number != number { throw LibraryError.editedSince }
        return steps
    }

    /// Repeats a step whose process died. A library that can only be read is shown without it.
    private func finishPendingIfPossible(_ state: StateDirectory) {
        do {
            if try state.journal.pending() != nil { try state.lock.withLock { try finishPending(state) } }
        } catch {
            let reason = (error as? SystemError).map { LibraryError($0).message } ?? "\(error)"
            logger.warning("an edit that was interrupted is not in the library yet: \(reason)")
        }
    }

    /// Repeats a step whose process died before it replaced the file. Call it with the lock held.
    private func finishPending(_ state: StateDirectory) throws {
        guard let change = try state.journal.pending() else { return }
        let albums = try file.retrying {
            let revision = file.revision
            let before = try file.readOrRepair(state)
            var albums = before
            change.apply(to: &albums)
            if albums != before { try file.write(albums, state, ifStill: revision) }
            return albums
        }
        try state.journal.clearPending()
        _ = keep(albums)
    }

    // MARK: Errors

    /// Reads or updates the journal.
    func withJournal<Result>(_ body: (AlbumJournal) throws -> Result) throws(LibraryError) -> Result {
        try perform { try body(try file.openState().journal) }
    }

    /// Runs `body` and turns its errors into `LibraryError`.
    func perform<Result: ~Copyable>(_ body: () throws -> Result) throws(LibraryError) -> Result {
        if isClosed.load(ordering: .acquiring) { throw .closed }
        if file.path.isEmpty { throw .invalidConfiguration("the configuration names no library file") }
        do {
            return try body()
        } catch let error as LibraryError {
            throw error
        } catch let error as SystemError {
            throw LibraryError(error)
        } catch {
            throw .unusableHistory(path: StateDirectory.path(of: file.path), reason: "\(error)")
        }
    }
}
