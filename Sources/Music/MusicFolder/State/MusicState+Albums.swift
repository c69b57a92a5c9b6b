import CoverSources
import Platform
import SQLite

/// The albums of the library that scanned folders contain.
extension MusicState {
    static let albumsSchema = """
        CREATE TABLE IF NOT EXISTS records (
            id TEXT PRIMARY KEY, added INTEGER NOT NULL, pending INTEGER NOT NULL, gone INTEGER NOT NULL, facts TEXT NOT NULL, genre TEXT NOT NULL,
            places TEXT NOT NULL, filled_url TEXT, filled_facts TEXT, filled_former TEXT) WITHOUT ROWID;
        """

    /// All records, in the order of their ids.
    package func albums() throws(Problem) -> [AlbumRecord] {
        try reading {
            var records: [AlbumRecord] = []
            try database.statement(
                """
                SELECT id, added, pending, gone, facts, genre, places, filled_url, filled_facts, filled_former
                FROM records ORDER BY id
                """
            ).each { row in
                var record = AlbumRecord(id: row.text(0))
                (record.isAdded, record.isPending) = (row.int(1) != 0, row.int(2) != 0)
                record.isGone = row.int(3) != 0
                // What another version has written in another form is found by the next scan.
                record.facts = row.json(4) ?? record.facts
                (record.genre, record.places) = (row.text(5), row.json(6) ?? [])
                if let url = row.optionalText(7), let facts: AlbumQuery = row.json(8) {
                    record.filled = FilledAddress(url: url, facts: facts, former: row.optionalText(9))
                }
                records.append(record)
            }
            return records
        }
    }

    /// The addresses that fills have given to albums, by the albums' ids.
    package func filledAddresses() throws(Problem) -> [String: FilledAddress] {
        Dictionary(try albums().compactMap { record in record.filled.map { (record.id, $0) } }) { first, _ in first }
    }

    /// Where an album of a library is, whose state another process may have; nowhere if the library has no state, or an unreadable one.
    package static func places(of album: String, in library: String) -> [AlbumPlace] {
        reading(library) { database in
            try database.statement("SELECT places FROM records WHERE id = ?").first(.text(album)) { $0.json(0) ?? [] }
        } ?? []
    }

    /// How many songs an album of a library has: by its tags, else as many as there are. nil if it was not scanned.
    package static func trackCount(of album: String, in library: String) -> Int? {
        let facts: AlbumQuery? = reading(library) { database in
            try database.statement("SELECT facts FROM records WHERE id = ?").first(.text(album)) { $0.json(0) } ?? nil
        }
        return facts?.trackCount ?? facts.flatMap { $0.lengths.isEmpty ? nil : $0.lengths.count }
    }

    /// The albums of a library that are in a folder, or in that of a file, as `places` has them: their ids.
    package static func albums(at path: BytePath, in library: String) -> [String] {
        let folders = reading(library) { database in
            var folders: [(id: String, folder: BytePath)] = []
            try database.statement("SELECT id, places FROM records WHERE gone = 0 ORDER BY id").each { row in
                let (id, places): (String, [AlbumPlace]) = (row.text(0), row.json(1) ?? [])
                folders += places.flatMap { $0.folders + $0.coverFolders }.map { (id, $0) }
            }
            return folders
        }
        let inside = folders?.filter { $0.folder.isInside(path) } ?? []
        return (inside.isEmpty ? folders?.filter { $0.folder == path.parent } ?? [] : inside).map(\.id)
    }

    /// Saves records, and removes those of `removed` ids.
    package func save(_ records: [AlbumRecord], removing removed: [String] = []) throws(Problem) {
        if records.isEmpty, removed.isEmpty { return }
        try transaction {
            for id in removed { try database.statement("DELETE FROM records WHERE id = ?").run(.text(id)) }
            for record in records { try Self.save(record, in: database) }
        }
    }

    private static func save(_ record: AlbumRecord, in database: borrowing Connection) throws {
        try database.statement("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
            .text(record.id), .int(record.isAdded ? 1 : 0), .int(record.isPending ? 1 : 0),
            .int(record.isGone ? 1 : 0), .json(record.facts), .text(record.genre), .json(record.places),
            .optional(record.filled?.url),
            record.filled.map { try .json($0.facts) } ?? .null, .optional(record.filled?.former))
    }

    /// Remembers where a fill has found the covers of albums, for their facts as the last scan has found them; nil for those whose cover was
    /// taken back.
    /// - Parameter isDone: Whether the library has them by now: an address that it had from an earlier fill is none of a fill any more.
    package func note(coverURLs: [String: String?], isDone: Bool = false) throws(Problem) {
        if coverURLs.isEmpty { return }
        var records = Dictionary(try albums().map { ($0.id, $0) }) { first, _ in first }
        for (id, url) in coverURLs {
            guard let record = records[id] else { continue }
            if record.filled?.url != url {
                let former = isDone ? nil : record.filled?.former ?? record.filled?.url
                records[id]?.filled = url.map { FilledAddress(url: $0, facts: record.facts, former: former) }
            } else if isDone {
                records[id]?.filled?.former = nil
            }
        }
        try save(coverURLs.keys.compactMap { records[$0] })
    }

    /// Remembers where fills that were killed had found covers, before a scan finds other facts.
    func noteFoundURLs() throws(Problem) { try note(coverURLs: try foundURLs().mapValues(Optional.some)) }

    /// Marks the albums that were added as being in the library.
    package func confirm() throws(Problem) {
        try transaction { try database.statement("UPDATE records SET pending = 0 WHERE pending != 0").run() }
    }
}
