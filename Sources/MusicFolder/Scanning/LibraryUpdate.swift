package import AlbumLibrary

/// What a scan changes in a library: a value, so that it can be decided and tested without files.
///
/// A scanned album is an album of the library if they have one MusicBrainz release; else if the scan has found it in the same folder before;
/// else if title and artist are equal, and the year if both have one. An album that a person deleted is not added again.
package struct LibraryUpdate: Sendable {
    /// Albums that are added, each with an id that the library has not.
    package private(set) var additions: [Album] = []
    package private(set) var edits: [(former: Album, album: Album)] = []
    /// The records of all albums that were scanned or whose places changed.
    package private(set) var records: [AlbumRecord] = []
    /// Albums of the library without a place left, in its order.
    package private(set) var gone: [Album] = []
    /// Those of them that a scan has added and that were not edited since.
    package private(set) var prunable: [Album.ID] = []
    /// Scanned albums that a person has deleted from the library.
    package private(set) var deleted: [ScannedAlbum] = []
    /// Records that are needed no longer.
    package private(set) var removedRecords: [Album.ID] = []
    /// The id in the library of each scanned album; nil for those in `deleted`.
    package private(set) var ids: [Album.ID?] = []

    private let options: LibraryUpdateOptions
    private var library: [Album.ID: Album] = [:]
    private var known: [Album.ID: AlbumRecord] = [:]
    private var byRelease: [String: [Album.ID]] = [:]
    private var byName: [Name: [Album.ID]] = [:]
    private var byFolder: [BytePath: [Album.ID]] = [:]
    private var taken: Set<Album.ID> = []
    private var updated: [Album.ID: AlbumRecord] = [:]
    /// Where the albums were found.
    private var found: [Album.ID: Set<AlbumPlace>] = [:]

    private struct Name: Hashable {
        var title, artist: String
        init(_ title: String, _ artist: String) {
            (self.title, self.artist) = (Folding.key(title), Folding.key(Folding.albumArtist(artist)))
        }
    }

    /// - Parameters:
    ///   - scanned: The albums of the scanned folders.
    ///   - library: The albums of the library.
    ///   - records: What is remembered of them.
    ///   - isGone: Whether an album that was not found in a folder is gone from there: the folder was looked for, and nothing in it was
    ///     unreadable.
    package init(
        _ scanned: [ScannedAlbum], library: [Album], records: [AlbumRecord], options: LibraryUpdateOptions = .init(),
        isGone: (BytePath) -> Bool
    ) {
        self.options = options
        taken = Set(library.lazy.map(\.id))
        for album in library {
            self.library[album.id] = album
            index(album.id, title: album.title, artist: album.artist, releaseID: album.musicBrainzReleaseID)
        }
        for record in records {
            if record.isPending, self.library[record.id] == nil {
                removedRecords.append(record.id)
                continue
            }
            // Also by what was written: a person may have edited it since, or have deleted the album.
            let written = record.written
            index(record.id, title: written.title ?? "", artist: written.artist ?? "", releaseID: written.releaseID)
            known[record.id] = record
            for folder in record.places.lazy.flatMap(\.folders) { byFolder[folder, default: []].append(record.id) }
        }
        let shared = Dictionary(grouping: scanned.lazy.flatMap(\.places).flatMap(\.folders), by: \.self).mapValues(
            \.count)
        for album in scanned {
            ids.append(add(album, isAlone: album.places.allSatisfy { $0.folders.allSatisfy { shared[$0] == 1 } }))
        }
        findGone(library, records, isGone)
        self.records = updated.values.filter { known[$0.id] != $0 }.sorted { $0.id < $1.id }
    }

    private mutating func index(_ id: Album.ID, title: String, artist: String, releaseID: String?) {
        if let releaseID { byRelease[releaseID.lowercased(), default: []].append(id) }
        byName[Name(title, artist), default: []].append(id)
    }

    // MARK: Scanned albums

    /// - Parameter isAlone: Whether its folders contain no other album.
    private mutating func add(_ scanned: ScannedAlbum, isAlone: Bool) -> Album.ID? {
        let id = match(scanned, isAlone)
        if let id { found[id, default: []].formUnion(scanned.places) }
        if let id, library[id] == nil, updated[id] == nil {
            if options.restoresDeleted {
                removedRecords.append(id)
                return addNew(scanned)
            }
            // A person has deleted it. The record remembers where it is.
            deleted.append(scanned)
            var record = known[id] ?? AlbumRecord(id: id)
            record.places = scanned.places
            updated[id] = record
            return nil
        }
        if let id, var record = updated[id] {
            // Another scanned album has its fields.
            record.places += scanned.places
            updated[id] = record
            if library[id] != nil { return id }
            deleted.append(scanned)
            return nil
        }
        guard let id, let former = library[id] else { return addNew(scanned) }
        var record = known[id] ?? AlbumRecord(id: id)
        let (written, album) = record.written.update(former, with: scanned)
        record.written = written
        record.isPending = false
        let folders = Set(scanned.places.lazy.flatMap(\.folders))
        record.places = record.places.filter { $0.folders.allSatisfy { !folders.contains($0) } } + scanned.places
        updated[id] = record
        if album != former { edits.append((former, album)) }
        return id
    }

    private mutating func addNew(_ scanned: ScannedAlbum) -> Album.ID {
        let (written, filled) = WrittenFields().update(Album(), with: scanned)
        var album = filled
        var (id, number) = (album.id, 2)
        while !taken.insert(id).inserted { (id, number) = ("\(album.id)-\(number)", number + 1) }
        album.id = id
        var record = AlbumRecord(id: id)
        (record.isAdded, record.isPending, record.written, record.places) = (true, true, written, scanned.places)
        updated[id] = record
        additions.append(album)
        return id
    }

    /// The album of the library that a scanned one is, or the record of one that a person has deleted; nil for a new album.
    private func match(_ scanned: ScannedAlbum, _ isAlone: Bool) -> Album.ID? {
        let named = byName[Name(scanned.title, scanned.artist)] ?? []
        let same = scanned.releaseID.flatMap { byRelease[$0] } ?? []
        let folders = scanned.places.lazy.flatMap(\.folders)
        let here = folders.flatMap { byFolder[$0] ?? [] }.filter { isCompatible($0, scanned) }
        // In a folder with several albums only the title tells which it was. An album alone in its folder may have got another title.
        let before = here.first { named.contains($0) } ?? (isAlone ? here.first { updated[$0] == nil } : nil)
        let candidates =
            same + [before].compactMap { $0 } + named.filter { isCompatible($0, scanned) && isSameYear($0, scanned) }
        return candidates.first { library[$0] != nil } ?? candidates.first
    }

    /// Whether an album has no other MusicBrainz release than a scanned one, in the library or in the tags that were written there.
    private func isCompatible(_ id: Album.ID, _ scanned: ScannedAlbum) -> Bool {
        guard let scannedID = scanned.releaseID else { return true }
        let ids = [library[id]?.musicBrainzReleaseID?.lowercased(), known[id]?.written.releaseID].compactMap { $0 }
        return ids.isEmpty || ids.contains(scannedID)
    }

    private func isSameYear(_ id: Album.ID, _ scanned: ScannedAlbum) -> Bool {
        let year = library[id]?.year ?? known[id]?.written.year ?? ""
        return year.isEmpty || scanned.year.isEmpty || year == scanned.year
    }

    // MARK: Gone

    private mutating func findGone(_ library: [Album], _ records: [AlbumRecord], _ isGone: (BytePath) -> Bool) {
        let removed = Set(removedRecords)
        for former in records where !removed.contains(former.id) {
            var record = updated[former.id] ?? former
            let found = self.found[former.id] ?? []
            record.places.removeAll { !found.contains($0) && $0.folders.allSatisfy(isGone) }
            // A scanned album is not gone, even if one of its places is.
            if !record.places.isEmpty {
                if record != former { updated[record.id] = record }
            } else if let album = self.library[former.id], !former.places.isEmpty {
                gone.append(album)
                let isOwn = former.isAdded && former.written.isUnedited(album)
                if isOwn { prunable.append(album.id) }
                guard options.prunes else { continue }
                if isOwn { removedRecords.append(album.id) } else { updated[album.id] = record }
            } else if self.library[former.id] == nil {
                updated[former.id] = nil
                removedRecords.append(former.id)
            }
        }
    }
}

/// What a person wants of an update.
package struct LibraryUpdateOptions: Sendable, Hashable {
    /// Forget the places of albums whose folders are gone, and delete those that a scan has added and that were not edited.
    package var prunes = false
    /// Add albums again that were deleted from the library.
    package var restoresDeleted = false

    package init() {}
}
