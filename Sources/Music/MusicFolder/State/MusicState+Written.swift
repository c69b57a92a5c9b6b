import CoverSources
import Platform
import SQLite

/// The cover files that fills have written: only these may be replaced or removed. Those that a person has removed stay known: no fill writes
/// them again.
extension MusicState {
    static let writtenSchema = """
        CREATE TABLE IF NOT EXISTS written (
            folder BLOB NOT NULL, name BLOB NOT NULL, digest BLOB NOT NULL, width INTEGER, height INTEGER,
            album TEXT NOT NULL, run INTEGER NOT NULL, replaced_name BLOB, replaced_digest BLOB, replaced_run INTEGER,
            found_url TEXT, modified INTEGER, root BLOB, disk TEXT, undone INTEGER NOT NULL,
            seen INTEGER NOT NULL, judged TEXT NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS written_album ON written(album, run);
        """
    private static let columns = """
        folder, name, digest, width, height, album, run, replaced_name, replaced_digest, replaced_run, found_url, modified, root, disk, undone, seen, judged
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

    /// The files of the last fill that has written any.
    func filesOfLastRun() throws(Problem) -> [WrittenFile] {
        try files("WHERE undone = 0 AND run = (SELECT max(run) FROM written WHERE undone = 0)")
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
        let written = try runs("SELECT run FROM written WHERE undone = 0 UNION SELECT run FROM embedded")
        return Set(written + (try acceptances().compactMap(\.run))).sorted(by: >)
    }

    /// The number of the next fill. Later ones have higher numbers, whatever the clock says.
    package func nextRun() throws(Problem) -> Int64 {
        let tables = ["written", "embedded", "decisions"].map { "SELECT run FROM \($0) WHERE run IS NOT NULL" }
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
            let places = [String](repeating: "?", count: 17).joined(separator: ", ")
            try database.statement("INSERT OR REPLACE INTO written (\(Self.columns)) VALUES (\(places))").run(
                .blob(file.folder.bytes), .blob(file.name), .digest(file.digest), .int(file.width), .int(file.height),
                .text(file.album), .int(file.run), file.replaced.map { .blob($0.name) } ?? .null,
                file.replaced.map { .digest($0.digest) } ?? .null, file.replaced.map { .int($0.run) } ?? .null,
                .optional(file.foundURL), .int(file.modified), .path(file.root), .optional(file.disk),
                .int(file.isUndone ? 1 : 0), .int(file.isSeen ? 1 : 0), .text(file.judged))
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

    /// Notes which of the files are there: one that is not, and was, has been removed. A killed fill may remember others.
    package func noteCovers() throws(Problem) {
        let files = try writtenFiles().filter { !$0.isSeen && $0.isThere }
        if files.isEmpty { return }
        try transaction {
            for file in files {
                try database.statement("UPDATE written SET seen = 1 WHERE folder = ? AND name = ?").run(
                    .blob(file.folder.bytes), .blob(file.name))
            }
        }
    }

    /// The cover files of fills that a person has removed from folders that are there.
    package func removedFiles() throws(Problem) -> [WrittenFile] {
        try writtenFiles().filter { file in
            (file.isUndone || file.isSeen) && file.path.withCString { access($0, F_OK) } != 0 && errno == ENOENT
                && file.folder.withCString { access($0, F_OK) } == 0
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
        (isSeen, judged) = (row.int64(15) != 0, row.text(16))
    }
}
