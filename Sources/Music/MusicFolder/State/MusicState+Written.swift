import Platform
import SQLite

/// The cover files that fills have written: only these may be replaced or removed. Those that a person has removed stay known: no fill writes
/// them again.
extension MusicState {
    static let writtenSchema = """
        CREATE TABLE IF NOT EXISTS written (
            folder BLOB NOT NULL, name BLOB NOT NULL, digest BLOB NOT NULL, width INTEGER, height INTEGER,
            album TEXT NOT NULL, run INTEGER NOT NULL, replaced_name BLOB, replaced_digest BLOB, replaced_run INTEGER,
            found_url TEXT, modified INTEGER, root BLOB, disk TEXT, undone INTEGER NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS written_album ON written(album, run);
        """
    private static let columns = """
        folder, name, digest, width, height, album, run, replaced_name, replaced_digest, replaced_run, found_url, modified, root, disk, undone
        """

    /// The files of all fills, also those that are gone by now.
    package func writtenFiles() throws(Problem) -> [WrittenFile] { try files("") }

    /// The files beside the music of albums of a library whose state another process may have, by their ids: of each the latest one, unless it has
    /// changed since, or something else took its place.
    package static func writtenFiles(of albums: Set<String>, in library: String) -> [String: BytePath] {
        if albums.isEmpty { return [:] }
        return reading(library) { database in
            var files: [String: BytePath] = [:]
            let query = database.statement(
                "SELECT \(columns) FROM written WHERE album = ? AND undone = 0 ORDER BY run DESC LIMIT 1")
            for album in albums {
                let file = try query.first(.text(album)) { WrittenFile($0) } ?? nil
                if let file, file.isUnchanged { files[album] = file.path }
            }
            return files
        } ?? [:]
    }

    func files(ofRun run: Int64) throws(Problem) -> [WrittenFile] { try files("WHERE run = \(run) AND undone = 0") }

    /// Whether this file was written.
    func wrote(_ file: WrittenFile) throws(Problem) -> Bool {
        try reading {
            let query = database.statement("SELECT digest FROM written WHERE folder = ? AND name = ?")
            return try query.first(.blob(file.folder.bytes), .blob(file.name)) { $0.digest(0) } == file.digest
        }
    }

    /// The fills of which something can be taken back, the last one first.
    package func runs() throws(Problem) -> [Int64] {
        try runs("SELECT run FROM written WHERE undone = 0 UNION SELECT run FROM embedded ORDER BY run DESC")
    }

    /// The number of the next fill. Later ones have higher numbers, whatever the clock says.
    func nextRun() throws(Problem) -> Int64 {
        let tables = ["written", "embedded", "accepted"].map { "SELECT run FROM \($0)" }
        return (try runs("\(tables.joined(separator: " UNION ")) ORDER BY run DESC LIMIT 1").first ?? 0) + 1
    }

    private func runs(_ statement: String) throws(Problem) -> [Int64] {
        try reading {
            var runs: [Int64] = []
            try database.statement(statement).each { runs.append($0.int64(0)) }
            return runs
        }
    }

    private func files(_ condition: String) throws(Problem) -> [WrittenFile] {
        try reading {
            var files: [WrittenFile] = []
            let query = "SELECT \(Self.columns) FROM written \(condition) ORDER BY folder, name"
            try database.statement(query).each { if let file = WrittenFile($0) { files.append(file) } }
            return files
        }
    }

    /// Remembers a file. Call it before the file gets its name: a killed fill then leaves none that is not remembered.
    func save(_ file: WrittenFile) throws(Problem) {
        try transaction {
            let places = [String](repeating: "?", count: 15).joined(separator: ", ")
            try database.statement("INSERT OR REPLACE INTO written (\(Self.columns)) VALUES (\(places))").run(
                .blob(file.folder.bytes), .blob(file.name), .digest(file.digest), .int(file.width), .int(file.height),
                .text(file.album), .int(file.run), file.replaced.map { .blob($0.name) } ?? .null,
                file.replaced.map { .digest($0.digest) } ?? .null, file.replaced.map { .int($0.run) } ?? .null,
                .optional(file.foundURL), .int(file.modified), .path(file.root), .optional(file.disk),
                .int(file.isUndone ? 1 : 0))
            // It is not there yet: a person cannot have removed it.
            try database.statement("DELETE FROM seen_covers WHERE folder = ? AND name = ?")
                .run(.blob(file.folder.bytes), .blob(file.name))
        }
    }

    /// Remembers a file at another path.
    func move(_ file: WrittenFile, to folder: BytePath) throws(Problem) {
        var moved = file
        (moved.folder, moved.root) = (folder, try root(of: folder))
        try forget(file)
        try save(moved)
    }

    /// The fill of a file that a person has removed is taken back.
    func settle(_ file: WrittenFile) throws(Problem) {
        var settled = file
        settled.isUndone = true
        try save(settled)
    }

    /// Where sources had the covers of written files, by albums, as long as the library may not know it.
    func foundURLs() throws(Problem) -> [String: String] {
        try reading {
            var urls: [String: String] = [:]
            try database.statement("SELECT album, found_url FROM written WHERE found_url IS NOT NULL").each {
                urls[$0.text(0)] = $0.text(1)
            }
            return urls
        }
    }

    func forgetFoundURLs() throws(Problem) {
        try transaction {
            try database.statement("UPDATE written SET found_url = NULL WHERE found_url IS NOT NULL").run()
        }
    }

    /// Forgets a file: a fill may write it again.
    package func forget(_ file: WrittenFile) throws(Problem) {
        try transaction {
            try database.statement("DELETE FROM written WHERE folder = ? AND name = ?").run(
                .blob(file.folder.bytes), .blob(file.name))
        }
    }
}

extension WrittenFile {
    /// - Parameter row: Of `MusicState.columns`; nil for a row that no fill has written.
    fileprivate init?(_ row: borrowing Row) {
        let (folder, name, replaced) = (row.bytes(0), row.bytes(1), row.bytes(7))
        guard let digest = row.digest(2), !folder.isEmpty, !name.isEmpty else { return nil }
        self.init(
            folder: BytePath(bytes: folder), name: name, digest: digest, width: row.optionalInt(3),
            height: row.optionalInt(4), album: row.text(5), run: row.int64(6), foundURL: row.optionalText(10))
        if let digest = row.digest(8), !replaced.isEmpty {
            self.replaced = .init(name: replaced, digest: digest, run: row.int64(9))
        }
        modified = row.optionalInt64(11)
        (root, disk, isUndone) = (row.path(12), row.optionalText(13), row.int64(14) != 0)
    }
}
