package import AlbumLibrary
import CoverSources

/// What a scan changes in a library: a value, so that it can be decided and tested without files.
///
/// `AlbumMatching` says which album of the library a scanned one is. Fields that a person has edited stay. An album that a person deleted is not
/// added again. An album whose folder has another one now stays, and is gone from there.
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
    /// What a person has said about an album, of those that its songs were divided into, or are a part of by now.
    private(set) var inherited: [Decision] = []
    /// The id in the library of each scanned album; nil for those in `deleted`.
    package private(set) var ids: [Album.ID?] = []

    private let options: LibraryUpdateOptions
    private let places: Places
    private let decisions: [Album.ID: Decisions]
    private let filled: [Album.ID: FilledAddress]
    private var library: [Album.ID: Album] = [:]
    private var known: [Album.ID: AlbumRecord] = [:]
    private var taken: Set<Album.ID> = []
    private var updated: [Album.ID: AlbumRecord] = [:]
    /// Where the albums were found.
    private var found: [Album.ID: Set<AlbumPlace>] = [:]

    /// What a scan knows of folders and files.
    struct Places: Sendable {
        /// Whether an album that was not found in a folder is not there: the folder was looked for, and nothing in it was unreadable.
        var isGone: @Sendable (BytePath) -> Bool
        /// Whether a folder's disk may not be mounted.
        var isAway: @Sendable (BytePath) -> Bool = { _ in false }
        /// The album for which a fill has written a cover file, which is unchanged since.
        var filled: @Sendable (BytePath) -> Album.ID? = { _ in nil }
        /// The path of a cover file without a link at its end.
        var resolve: @Sendable (BytePath) -> BytePath = { $0 }
    }

    /// - Parameters:
    ///   - scanned: The albums of the scanned folders.
    ///   - library: The albums of the library.
    ///   - records: What is remembered of them.
    ///   - decisions: What a person has said about the albums' covers, by the albums' ids.
    ///   - filled: The addresses that fills have given to the albums.
    init(
        _ scanned: [ScannedAlbum], library: [Album], records: [AlbumRecord], decisions: [Album.ID: Decisions] = [:],
        filled: [Album.ID: FilledAddress] = [:], options: LibraryUpdateOptions = .init(), places: Places
    ) {
        (self.options, self.places, self.decisions, self.filled) = (options, places, decisions, filled)
        taken = Set(library.lazy.map(\.id))
        for album in library { self.library[album.id] = album }
        for record in records {
            if record.isPending, self.library[record.id] == nil {
                removedRecords.append(record.id)
            } else {
                known[record.id] = record
            }
        }
        // No other album gets the id of a record or a decision; without records, as after a loss, an id says that it is the same album.
        taken.formUnion(known.keys)
        if !records.isEmpty { taken.formUnion(decisions.keys) }
        let matching = AlbumMatching(scanned, library: library, records: Array(known.values), isGone: places.isGone)
        for (album, id) in zip(scanned, matching.ids) { ids.append(add(album, id)) }
        moveAcceptances(scanned)
        findGone(records)
        self.records = updated.values.filter { known[$0.id] != $0 }.sorted { $0.id < $1.id }
    }

    // MARK: Scanned albums

    private mutating func add(_ scanned: ScannedAlbum, _ id: Album.ID?) -> Album.ID? {
        guard let id else { return addNew(scanned) }
        found[id] = Set(scanned.places)
        guard let former = library[id] else {
            if options.restoresDeleted {
                removedRecords.append(id)
                return addNew(scanned, id: id)
            }
            // A person has deleted it. The record remembers where it is.
            deleted.append(scanned)
            updated[id] = known[id]
            updated[id]?.places = scanned.places
            return nil
        }
        let before = known[id]
        var record = AlbumRecord(id: id, scanned)
        record.isAdded = before?.isAdded ?? false
        let folders = Set(scanned.places.lazy.flatMap(\.folders))
        record.places = (before?.places ?? []).filter { folders.isDisjoint(with: $0.folders) } + scanned.places
        var album = record.updated(former, since: before)
        dropAddress(of: &album, record)
        setCoverFile(of: &album, record, scanned)
        updated[id] = record
        if album != former { edits.append((former, album)) }
        return id
    }

    /// An address that a fill has found for other names is no address of the album, unless a person has accepted it.
    private func dropAddress(of album: inout Album, _ record: AlbumRecord) {
        guard let filled = filled[album.id], filled.isAddress(of: album),
            filled.facts.key != AlbumQuery(record.facts, edited: album).key
        else { return }
        if decisions[album.id]?.acceptance?.picture.urls.contains(filled.url) != true { album.coverURL = nil }
    }

    /// A person's file counts as the cover unless a person, or a list, has given the album an address. Without an address so does a fill's, if it
    /// was written for this album.
    private func setCoverFile(of album: inout Album, _ record: AlbumRecord, _ scanned: ScannedAlbum) {
        let hasNone = album.coverURL?.isEmpty != false
        var file: BytePath?
        if hasNone || filled[album.id]?.isAddress(of: album) == true {
            let covers = scanned.places.filter { !$0.isShared }.compactMap(\.cover).filter { $0.mediaType != nil }
            let found = covers.map(\.path).first { places.filled($0).map { hasNone && $0 == record.id } ?? true }
            file = found.map(places.resolve)
        }
        if album.coverFilePath != file?.bytes { album.coverFilePath = file?.bytes }
    }

    /// - Parameter known: The id that it had before it was deleted.
    private mutating func addNew(_ scanned: ScannedAlbum, id known: Album.ID? = nil) -> Album.ID {
        var record = AlbumRecord(id: "", scanned)
        var album = record.updated(Album(), since: nil)
        let id = known ?? Album.unusedID(album.id, &taken)
        album.id = id
        (record.id, record.isAdded, record.isPending) = (id, true, true)
        setCoverFile(of: &album, record, scanned)
        updated[id] = record
        additions.append(album)
        if known == nil { addRefusals(of: scanned, id) }
        return id
    }

    /// Songs that were part of another album, in the same folder with the same lengths, keep what was refused for it.
    private mutating func addRefusals(of scanned: ScannedAlbum, _ id: Album.ID) {
        let (folders, lengths) = (Set(scanned.places.lazy.flatMap(\.folders)), scanned.facts.knownLengths)
        if lengths.isEmpty { return }
        for (whole, said) in decisions {
            guard let former = known[whole], former.places.contains(where: { !folders.isDisjoint(with: $0.folders) }),
                lengths.isSubset(of: former.facts.lengths)
            else { continue }
            for var refusal in said.current.reversed() where refusal.verdict == .refused {
                refusal.album = id
                inherited.append(refusal)
            }
        }
    }

    /// An acceptance follows the songs. Of an album that was divided it is that of the part with three quarters of them, or counts no longer; of
    /// albums that were joined the newest one counts.
    private mutating func moveAcceptances(_ scanned: [ScannedAlbum]) {
        // The newest last: it counts.
        let acceptances = decisions.values.compactMap(\.acceptance).sorted { $0.time < $1.time }
        if acceptances.isEmpty { return }
        let parts = zip(ids, scanned).compactMap { id, album in
            id.map { (id: $0, lengths: album.facts.knownLengths, folders: album.places.flatMap(\.folders)) }
        }
        let byID = Dictionary(parts.map { ($0.id, $0.lengths) }) { first, _ in first }
        for var acceptance in acceptances {
            let id = acceptance.album
            guard let former = known[id], case let lengths = former.facts.knownLengths, lengths.count >= 4 else {
                continue
            }
            if let own = byID[id] {
                let lost = lengths.subtracting(own)
                let new = parts.filter { part in
                    known[part.id] == nil && !part.lengths.isEmpty && part.lengths.isSubset(of: lost)
                }
                let heir = new.first { $0.lengths.count * 4 >= lengths.count * 3 }
                if new.isEmpty || heir == nil && (lengths.count - lost.count) * 4 >= lengths.count * 3 { continue }
                inherited.append(Decision(.allowed, acceptance.picture, of: id))
                guard let heir else { continue }
                acceptance.album = heir.id
                inherited.append(acceptance)
            } else {
                let folders = former.places.flatMap(\.folders)
                let whole = parts.filter { part in
                    lengths.isSubset(of: part.lengths) && !lengths.isSubset(of: known[part.id]?.facts.lengths ?? [])
                        && folders.allSatisfy { part.folders.contains($0) || places.isGone($0) }
                }
                guard whole.count == 1, case let other = decisions[whole[0].id]?.acceptance,
                    other.map({ $0.time < acceptance.time }) ?? true
                else { continue }
                acceptance.album = whole[0].id
                inherited.append(acceptance)
            }
        }
    }

    // MARK: Gone

    private mutating func findGone(_ records: [AlbumRecord]) {
        let removed = Set(removedRecords)
        for former in records where !removed.contains(former.id) {
            var record = updated[former.id] ?? former
            let found = self.found[former.id]
            record.places.removeAll { place in
                found?.contains(place) != true
                    // What was found elsewhere has moved.
                    && place.folders.allSatisfy { places.isGone($0) && (found != nil || !places.isAway($0)) }
            }
            // A scanned album is not gone, even if one of its places is.
            if !record.places.isEmpty {
                if record != former { updated[record.id] = record }
            } else if let album = library[former.id], !former.places.isEmpty {
                gone.append(album)
                // Another album may have its folder, and a cover there.
                if album.coverFile != nil { edits.append((album, album.withoutCoverFile)) }
                let isPrunable = former.isUnedited(album, filled[album.id]) && decisions[album.id] == nil
                if isPrunable { prunable.append(album.id) }
                if !options.prunes {
                    updated[album.id] = former
                    updated[album.id]?.isGone = true
                } else if isPrunable {
                    removedRecords.append(album.id)
                } else {
                    updated[album.id] = record
                }
            } else if library[former.id] == nil {
                updated[former.id] = nil
                removedRecords.append(former.id)
            }
        }
    }
}

extension AlbumQuery {
    /// Songs are known by them, whatever their tags say.
    fileprivate var knownLengths: Set<Int> { Set(lengths).subtracting([0]) }
}

/// What a person wants of an update.
package struct LibraryUpdateOptions: Sendable, Hashable {
    /// Forget the places of albums whose folders are gone, and delete those that a scan has added and that were not edited.
    package var prunes = false
    /// Add albums again that were deleted from the library.
    package var restoresDeleted = false
    /// Count the covers that are gone as removed by a person, however many they are.
    package var countsAllRemoved = false
}
