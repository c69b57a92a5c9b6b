import Platform
import SQLite

/// The albums of the library that scanned folders contain.
extension MusicState {
    static let albumsSchema = """
        CREATE TABLE IF NOT EXISTS albums (
            id TEXT PRIMARY KEY, added INTEGER NOT NULL, pending INTEGER NOT NULL, written TEXT NOT NULL,
            places TEXT NOT NULL) WITHOUT ROWID;
        """

    /// All records, in the order of their ids.
    package func albums() throws(Problem) -> [AlbumRecord] {
        try reading {
            let decoder = JSONDecoder()
            var records: [AlbumRecord] = []
            try database.statement("SELECT id, added, pending, written, places FROM albums ORDER BY id").each { row in
                var record = AlbumRecord(id: row.text(0))
                record.isAdded = row.int(1) != 0
                record.isPending = row.int(2) != 0
                record.written = try decoder.decode(WrittenFields.self, from: Data(row.text(3).utf8))
                record.places = try decoder.decode([AlbumPlace].self, from: Data(row.text(4).utf8))
                records.append(record)
            }
            return records
        }
    }

    /// Where an album of a library is, whose state another process may have; nowhere if the library has no state, or an unreadable one.
    package static func places(of album: String, in library: String) -> [AlbumPlace] {
        guard let database = try? Connection(path(of: library), .reading) else { return [] }
        let text = try? database.statement("SELECT places FROM albums WHERE id = ?").first(.text(album)) { $0.text(0) }
        return text.flatMap { try? JSONDecoder().decode([AlbumPlace].self, from: Data($0.utf8)) } ?? []
    }

    /// Saves records, and removes those of `removed` ids.
    package func save(_ records: [AlbumRecord], removing removed: [String] = []) throws(Problem) {
        if records.isEmpty, removed.isEmpty { return }
        try transaction {
            let encoder = JSONEncoder()
            func json(_ value: some Encodable) throws -> SQLValue {
                .text(String(decoding: try encoder.encode(value), as: UTF8.self))
            }
            for id in removed { try database.statement("DELETE FROM albums WHERE id = ?").run(.text(id)) }
            for record in records {
                try database.statement(
                    "INSERT OR REPLACE INTO albums (id, added, pending, written, places) VALUES (?, ?, ?, ?, ?)"
                ).run(
                    .text(record.id), .int(record.isAdded ? 1 : 0), .int(record.isPending ? 1 : 0),
                    json(record.written),
                    json(record.places))
            }
        }
    }

    /// Remembers where a fill has found the covers of albums; nil for those whose cover was taken back.
    /// - Returns: For each album, the URL that was remembered before.
    @discardableResult
    func note(coverURLs: [String: String?]) throws(Problem) -> [String: String] {
        if coverURLs.isEmpty { return [:] }
        var records = Dictionary(try albums().map { ($0.id, $0) }) { first, _ in first }
        let before = coverURLs.keys.reduce(into: [:]) { $0[$1] = records[$1]?.written.coverURL }
        for (id, url) in coverURLs { records[id]?.written.coverURL = url }
        try save(coverURLs.keys.compactMap { records[$0] })
        return before
    }

    /// Marks the albums that were added as being in the library.
    package func confirm() throws(Problem) {
        try transaction { try database.statement("UPDATE albums SET pending = 0 WHERE pending != 0").run() }
    }
}
