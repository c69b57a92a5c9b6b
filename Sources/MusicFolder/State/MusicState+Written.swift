import Platform
import SQLite

/// The cover files that fills have written: only these may be replaced or removed.
extension MusicState {
    static let writtenSchema = """
        CREATE TABLE IF NOT EXISTS written (
            folder BLOB NOT NULL, name BLOB NOT NULL, digest BLOB NOT NULL, width INTEGER, height INTEGER,
            album TEXT NOT NULL, run INTEGER NOT NULL, replaced_name BLOB, replaced_digest BLOB, replaced_run INTEGER,
            found_url TEXT, modified INTEGER,
            PRIMARY KEY (folder, name)) WITHOUT ROWID;
        """

    /// The files of all fills.
    package func writtenFiles() throws(Problem) -> [WrittenFile] { try files("") }

    func files(ofRun run: Int64) throws(Problem) -> [WrittenFile] { try files("WHERE run = \(run)") }

    /// The fills of which something is left, the last one first.
    package func runs() throws(Problem) -> [Int64] {
        try reading {
            var runs: [Int64] = []
            try database.statement("SELECT run FROM written UNION SELECT run FROM embedded ORDER BY run DESC").each {
                runs.append($0.int64(0))
            }
            return runs
        }
    }

    private func files(_ condition: String) throws(Problem) -> [WrittenFile] {
        try reading {
            var files: [WrittenFile] = []
            try database.statement(
                """
                SELECT folder, name, digest, width, height, album, run, replaced_name, replaced_digest, replaced_run,
                    found_url, modified
                FROM written \(condition) ORDER BY folder, name
                """
            ).each { row in
                let (folder, name, replaced) = (row.bytes(0), row.bytes(1), row.bytes(7))
                guard let digest = row.digest(2), !folder.isEmpty, !name.isEmpty else { return }
                var file = WrittenFile(
                    folder: BytePath(bytes: folder), name: name, digest: digest, width: row.optionalInt(3),
                    height: row.optionalInt(4), album: row.text(5), run: row.int64(6),
                    foundURL: row.optionalText(10))
                file.modified = row.optionalInt64(11)
                if let digest = row.digest(8), !replaced.isEmpty {
                    file.replaced = .init(name: replaced, digest: digest, run: row.int64(9))
                }
                files.append(file)
            }
            return files
        }
    }

    /// Remembers a file. Call it before the file gets its name: a killed fill then leaves none that is not remembered.
    func save(_ file: WrittenFile) throws(Problem) {
        try transaction {
            try database.statement("INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
                .blob(file.folder.bytes), .blob(file.name), .digest(file.digest), .int(file.width), .int(file.height),
                .text(file.album), .int(file.run), file.replaced.map { .blob($0.name) } ?? .null,
                file.replaced.map { .digest($0.digest) } ?? .null, file.replaced.map { .int($0.run) } ?? .null,
                file.foundURL.map { .text($0) } ?? .null,
                .int(file.modified))
        }
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

    func forget(_ file: WrittenFile) throws(Problem) {
        try transaction {
            try database.statement("DELETE FROM written WHERE folder = ? AND name = ?").run(
                .blob(file.folder.bytes), .blob(file.name))
        }
    }
}
