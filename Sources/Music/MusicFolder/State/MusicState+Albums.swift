import CoverSources
import Platform
import SQLite

/// The albums of the library that scanned folders contain.
extension MusicState {
    static let albumsSchema = """
        CREATE TABLE IF NOT EXISTS records (
            id TEXT PRIMARY KEY, added INTEGER NOT NULL, pending INTEGER NOT NULL, gone INTEGER NOT NULL, facts TEXT NOT NULL, genre TEXT NOT NULL,
            places TEXT NOT NULL) WITHOUT ROWID;
        """

    /// All records, in the order of their ids.
    package func albums() throws(Problem) -> [AlbumRecord] {
        try reading {
            var records: [AlbumRecord] = []
            try database.statement(
                "SELECT id, added, pending, gone, facts, genre, places FROM records ORDER BY id"
            ).each { row in
                var record = AlbumRecord(id: row.text(0))
                (record.isAdded, record.isPending) = (row.int(1) != 0, row.int(2) != 0)
                record.isGone = row.int(3) != 0
                // What another version has written in another form is found by the next scan.
                record.facts = row.json(4) ?? record.facts
                (record.genre, record.places) = (row.text(5), row.json(6) ?? [])
                records.append(record)
            }
            return records
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
