package import AlbumLibrary
package import CoverSources
import Platform
import SQLite

/// What is remembered of an album of the library: what the last scan has found of it, and who gave it its address.
package struct AlbumRecord: Sendable, Hashable {
    /// The album's id in the library.
    package var id: String
    /// Whether a scan has added it, rather than a person or a list.
    package var isAdded = false
    /// Whether the album may not be in the library yet: the process ended before the library was written.
    package var isPending = false
    /// Whether a scan has found none of its places. They stay known, as it may come back, and another album may have them by now.
    package var isGone = false
    /// As the tags have it. A field of the library's album that differs was edited by a person.
    package var facts = AlbumQuery(artist: "", title: "")
    /// As the tags have it.
    package var genre = ""
    package var places: [AlbumPlace] = []

    package init(id: String) { self.id = id }

    init(id: String, _ scanned: ScannedAlbum) {
        (self.id, facts, genre, places) = (id, scanned.facts, scanned.genre, scanned.places)
    }

    /// The album of the library with what a scan has found, except for the fields that a person has edited.
    /// - Parameter former: What the scan before has found; nil if there was none: fields that have a value are a person's.
    func updated(_ album: Album, since former: AlbumRecord?) -> Album {
        var album = album
        let (before, now) = (former?.fields ?? Album(), fields)
        func update<Value: Equatable>(_ field: WritableKeyPath<Album, Value>) {
            if album[keyPath: field] == before[keyPath: field] { album[keyPath: field] = now[keyPath: field] }
        }
        update(\.title)
        update(\.artist)
        update(\.year)
        update(\.genre)
        update(\.musicBrainzReleaseID)
        update(\.musicBrainzReleaseGroupID)
        return album
    }

    /// Whether a scan has added an album, and nothing of it was edited since.
    /// - Parameter filled: What fills have given it.
    func isUnedited(_ album: Album, _ filled: FilledAddress?) -> Bool {
        guard isAdded, album.coverURL == nil || filled?.isAddress(of: album) == true else { return false }
        var expected = updated(Album(id: album.id, coverURL: album.coverURL), since: nil)
        expected.coverFile = album.coverFile
        if Set(expected.otherFields) == Set(album.otherFields) { expected.otherFields = album.otherFields }
        return expected == album
    }

    /// What the library keeps of the facts, as it spells them.
    private var fields: Album {
        var album = Album(
            title: facts.title, artist: facts.artist, genre: genre, year: facts.year.map { String($0) } ?? "")
        (album.musicBrainzReleaseID, album.musicBrainzReleaseGroupID) = (facts.releaseID, facts.releaseGroupID)
        return album
    }
}

/// The address that a fill gave an album of the library; another one is a person's or a list's.
package struct FilledAddress: Sendable, Hashable {
    /// Of the picture that was written last.
    package var url: String
    /// The album's facts when that picture was judged.
    package var facts: AlbumQuery
    /// Of the one before it, as long as the library may have that.
    var former: String?

    /// Whether an album of the library has its address from a fill.
    package func isAddress(of album: Album) -> Bool {
        album.coverURL == url || former != nil && album.coverURL == former
    }
}

/// The albums of the library that scanned folders contain.
extension MusicState {
    static let albumsSchema = """
        CREATE TABLE IF NOT EXISTS records (
            id TEXT PRIMARY KEY, added INTEGER NOT NULL, pending INTEGER NOT NULL, gone INTEGER NOT NULL, facts TEXT NOT NULL, genre TEXT NOT NULL,
            places TEXT NOT NULL) WITHOUT ROWID;
        """

    /// All records, in the order of their ids.
    package func albums() throws(Problem) -> [AlbumRecord] {
        try all("SELECT id, added, pending, gone, facts, genre, places FROM records ORDER BY id") { row in
            var record = AlbumRecord(id: row.text(0))
            (record.isAdded, record.isPending) = (row.int(1) != 0, row.int(2) != 0)
            record.isGone = row.int(3) != 0
            // What another version has written in another form is found by the next scan.
            record.facts = row.json(4) ?? record.facts
            (record.genre, record.places) = (row.text(5), row.json(6) ?? [])
            return record
        }
    }

    /// Where an album is.
    package func places(of album: String) throws(Problem) -> [AlbumPlace] {
        try reading {
            try database.statement("SELECT places FROM records WHERE id = ?").first(.text(album)) { $0.json(0) } ?? nil
        } ?? []
    }

    /// How many songs an album has: by its tags, else as many as there are. nil if it was not scanned.
    package func trackCount(of album: String) throws(Problem) -> Int? {
        let facts = try facts(of: album)[album]
        return facts?.trackCount ?? facts.flatMap { $0.lengths.isEmpty ? nil : $0.lengths.count }
    }

    /// What the last scan has found of all albums, or of one of them, by their ids.
    func facts(of album: String?) throws(Problem) -> [String: AlbumQuery] {
        try reading {
            var facts: [String: AlbumQuery] = [:]
            let rows = database.statement("SELECT id, facts FROM records WHERE id = ?1 OR ?1 IS NULL")
            try rows.each(.optional(album)) { facts[$0.text(0)] = $0.json(1) }
            return facts
        }
    }

    /// The albums that are in a folder, or in that of a file, as `places` has them: their ids.
    package func albums(at path: BytePath) throws(Problem) -> [String] {
        let folders = try albums().filter { !$0.isGone }.flatMap { record in
            record.places.flatMap(\.allFolders).map { (id: record.id, folder: $0) }
        }
        let inside = folders.filter { $0.folder.isInside(path) }
        return (inside.isEmpty ? folders.filter { $0.folder == path.parent } : inside).map(\.id)
    }

    /// Saves records, and removes those of `removed` ids.
    package func save(_ records: [AlbumRecord], removing removed: [String] = []) throws(Problem) {
        if records.isEmpty, removed.isEmpty { return }
        try transaction {
            for id in removed { try database.statement("DELETE FROM records WHERE id = ?").run(.text(id)) }
            for record in records {
                try database.statement("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)").run(
                    .text(record.id), .int(record.isAdded ? 1 : 0), .int(record.isPending ? 1 : 0),
                    .int(record.isGone ? 1 : 0), .json(record.facts), .text(record.genre), .json(record.places))
            }
        }
    }

    /// Marks the albums that were added as being in the library.
    package func confirm() throws(Problem) {
        try transaction { try database.statement("UPDATE records SET pending = 0 WHERE pending != 0").run() }
    }
}
