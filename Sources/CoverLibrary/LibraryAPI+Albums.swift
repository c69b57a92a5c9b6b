extension LibraryAPI {
    // MARK: Albums

    /// The albums of the library file as it is now; it is made from the starter albums on first use.
    ///
    /// Other processes, and people, may edit the file: what they wrote is here the next time. A damaged file is set aside and
    /// the last good one used, with a warning to the configuration's logger.
    /// - Throws: `LibraryError`: the file cannot be read or made.
    public var albums: [Album] {
        get async throws { try await albumList().albums }
    }

    package func albumList() async throws -> AlbumList { try await store.current() }

    /// Adds an album and saves the library.
    /// - Parameter index: its place; at the end if nil or beyond it.
    /// - Returns: the album as it is in the library: its id is another one if that was taken.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func addAlbum(_ album: Album, at index: Int? = nil) async throws -> Album {
        try await insert(album, at: index)?.changes.first?.album ?? album
    }

    package func insert(_ album: Album, at index: Int?) async throws -> AlbumEdit? {
        try await store.insert(album, at: index)
    }

    /// Adds albums at the end in one step, but for those whose id is in the library.
    /// - Returns: the step; `nil` when nothing was new.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func addAlbums(_ albums: [Album]) async throws -> AlbumEdit? {
        try await store.add(albums)
    }

    /// Deletes the album at `index` of the albums as this library last gave them, and saves the library.
    /// - Returns: the album; `nil` when there is none at that place, or somebody else has deleted it.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func deleteAlbum(at index: Int) async throws -> Album? {
        let albums = try await store.all()
        guard albums.indices.contains(index) else { return nil }
        return try await deleteAlbums([albums[index].id])?.changes.first?.album
    }

    /// Deletes the albums of these ids in one step, and saves the library.
    /// - Returns: the step; `nil` when none of them is there.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func deleteAlbums(_ ids: [Album.ID]) async throws -> AlbumEdit? { try await store.delete(ids) }

    /// Changes fields of an album in one step and saves the library. The album keeps its place, its id, and every field that
    /// `change` leaves alone, also one that another program changes at the same time.
    ///
    /// ```swift
    /// try await library.editAlbum(album.id) { $0.year = "1971" }
    /// ```
    /// - Returns: the step; `nil` when there is no album of this id, or `change` changed nothing.
    /// - Throws: `LibraryError`, or what `change` throws; nothing has changed then.
    @discardableResult
    public func editAlbum(_ id: Album.ID, _ change: (inout Album) throws -> Void) async throws -> AlbumEdit? {
        try await store.edit(id, change)
    }

    /// Takes the last step back, whichever process took it. The history has no end and outlives the program.
    /// - Returns: what changed; `nil` when there is nothing to take back.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func undo() async throws -> AlbumEdit? { try await store.undo() }

    /// Takes a step again that `undo` took back; the next new step forgets those that could be redone.
    /// - Returns: what changed; `nil` when there is nothing to take again.
    /// - Throws: `LibraryError`; nothing has changed then.
    @discardableResult
    public func redo() async throws -> AlbumEdit? { try await store.redo() }

    /// The steps that `undo` would take back and `redo` take again.
    /// - Throws: `LibraryError`.
    public var history: (undo: AlbumEdit?, redo: AlbumEdit?) {
        get async throws { try await store.history() }
    }

    /// Writes the library file as it is in the library's own form, with an id for every album. Every edit saves by itself:
    /// this is for files that people wrote.
    /// - Throws: `LibraryError`; the file is as it was then.
    public func saveAlbums() async throws { try await store.save() }

    // MARK: Memento

    /// Remembers where a client is. It outlives the program.
    /// - Throws: `LibraryError`.
    public func save(_ memento: LibraryMemento, for client: String) async throws {
        try await store.save(memento, for: client)
    }

    /// Where a client was, in the library as it is now; `nil` for one that is not known.
    /// - Throws: `LibraryError`.
    public func memento(of client: String) async throws -> LibraryMemento? {
        try await store.memento(of: client)
    }

    // MARK: Remote library

    /// Sends the edits that wait for the remote library of the configuration: in order, each once. Returns when all are sent
    /// or the server cannot be had; those that are left wait on the disk for the next call.
    /// - Throws: `LibraryError`: the outbox cannot be read, or the remote library's URL is none.
    public func sendEdits() async throws -> OutboxState { try await store.sendEdits() }

    /// How many edits wait for the remote library.
    /// - Throws: `LibraryError`.
    public var waitingEdits: Int {
        get async throws { try await store.waitingEdits() }
    }
}
