import Files
package import Platform
import SQLite

/// What is remembered of fills beside the files that they wrote: what the last one was asked for, and what was said.
extension MusicState {
    static let fillsSchema = """
        CREATE TABLE IF NOT EXISTS last_fill (number INTEGER PRIMARY KEY CHECK (number = 1), request TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS seen_covers (
            folder BLOB NOT NULL, name BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS repeated_pictures (digest TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS accepted (album TEXT PRIMARY KEY, run INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS told (folders TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (folders, message))
            WITHOUT ROWID;
        """

    /// What a person has asked a fill for.
    package struct FillRequest: Sendable, Hashable, Codable {
        package var folders: [BytePath]
        /// Its options, as words of a command line.
        package var options: [String]

        package init(folders: [BytePath], options: [String]) { (self.folders, self.options) = (folders, options) }
    }

    /// The last fill; nil if there was none.
    package func lastFill() throws(Problem) -> FillRequest? { try reading { try Self.lastFill(in: database) } }

    /// That of a library whose state another process may have; nil if it has none, or an unreadable one.
    package static func lastFill(of library: String) -> FillRequest? {
        reading(library) { try lastFill(in: $0) }
    }

    private static func lastFill(in database: borrowing Connection) throws -> FillRequest? {
        try database.statement("SELECT request FROM last_fill").first { $0.json(0) } ?? nil
    }

    package func save(_ request: FillRequest) throws(Problem) {
        try transaction {
            try database.statement("INSERT OR REPLACE INTO last_fill VALUES (1, ?)").run(.json(request))
        }
    }

    /// The pictures that fills have found for unrelated albums.
    package func repeatedPictures() throws(Problem) -> Set<Digest> {
        try reading {
            var digests: Set<Digest> = []
            try database.statement("SELECT digest FROM repeated_pictures").each { row in
                if let digest = Digest(row.text(0)) { digests.insert(digest) }
            }
            return digests
        }
    }

    package func save(repeatedPictures digests: Set<Digest>) throws(Problem) {
        if digests.isEmpty { return }
        try transaction {
            for digest in digests {
                try database.statement("INSERT OR IGNORE INTO repeated_pictures VALUES (?)").run(
                    .text(digest.description))
            }
        }
    }

    /// Remembers albums of which a person has accepted a cover.
    /// - Returns: The number of the fill that writes these covers.
    package func save(accepted albums: [String]) throws(Problem) -> Int64 {
        let run = try nextRun()
        try transaction {
            for album in albums {
                try database.statement("INSERT OR REPLACE INTO accepted VALUES (?, ?)").run(.text(album), .int(run))
            }
        }
        return run
    }

    /// The albums whose covers were accepted by the command whose fill has this number.
    package func albumsAccepted(byRun run: Int64) throws(Problem) -> Set<String> {
        try albumsAccepted("SELECT album FROM accepted WHERE run = \(run)")
    }

    /// The albums whose covers the last command has accepted, if nothing was written since that can be taken back.
    package func acceptedSinceLastRun() throws(Problem) -> Set<String> {
        let last = try runs().first ?? 0
        return try albumsAccepted(
            "SELECT album FROM accepted WHERE run > \(last) AND run = (SELECT max(run) FROM accepted)")
    }

    private func albumsAccepted(_ query: String) throws(Problem) -> Set<String> {
        try reading {
            var albums: Set<String> = []
            try database.statement(query).each { albums.insert($0.text(0)) }
            return albums
        }
    }

    package func forget(accepted albums: some Collection<String>) throws(Problem) {
        try transaction {
            for album in albums { try database.statement("DELETE FROM accepted WHERE album = ?").run(.text(album)) }
        }
    }

    /// The messages that no fill of the folders has said.
    package func news(_ messages: Set<String>, of folders: [BytePath]) throws(Problem) -> Set<String> {
        try reading {
            var news = messages
            try database.statement("SELECT message FROM told WHERE folders = ?").each(Self.key(folders)) {
                news.remove($0.text(0))
            }
            return news
        }
    }

    /// Remembers what a fill of folders says.
    /// - Parameter isAll: In place of what it said before. A fill that did not come to all albums leaves that.
    /// - Returns: The messages that it did not say before.
    package func tell(_ messages: Set<String>, of folders: [BytePath], isAll: Bool) throws(Problem) -> Set<String> {
        let news = try news(messages, of: folders)
        try transaction {
            if isAll { try database.statement("DELETE FROM told WHERE folders = ?").run(Self.key(folders)) }
            for message in messages {
                try database.statement("INSERT OR IGNORE INTO told VALUES (?, ?)").run(
                    Self.key(folders), .text(message))
            }
        }
        return news
    }

    private static func key(_ folders: [BytePath]) -> SQLValue {
        .text(folders.map { "\($0)" }.sorted().joined(separator: "\n"))
    }

    /// The state of a library, if there is one, for commands that do not create it.
    package static func existing(of library: String) -> MusicState? {
        guard FileManager.default.fileExists(atPath: path(of: library)) else { return nil }
        return try? MusicState(of: library) { _ in }
    }

    /// Notes which of the cover files of fills are there: one that is not, and was, has been removed. A killed fill may remember others.
    package func noteCovers() throws(Problem) {
        let seen = try seenCovers()
        let files = try writtenFiles().filter { file in
            seen[file.path] != file.digest && file.isThere
        }
        if files.isEmpty { return }
        try transaction {
            for file in files {
                try database.statement("INSERT OR REPLACE INTO seen_covers VALUES (?, ?, ?)")
                    .run(.blob(file.folder.bytes), .blob(file.name), .digest(file.digest))
            }
        }
    }

    private func seenCovers() throws(Problem) -> [BytePath: Digest] {
        try reading {
            var seen: [BytePath: Digest] = [:]
            try database.statement("SELECT folder, name, digest FROM seen_covers").each { row in
                seen[BytePath(bytes: row.bytes(0)).appending(row.bytes(1))] = row.digest(2)
            }
            return seen
        }
    }

    /// The cover files of fills that a person has removed from folders that are there.
    package func removedFiles() throws(Problem) -> [WrittenFile] {
        let seen = try seenCovers()
        return try writtenFiles().filter { file in
            (file.isUndone || seen[file.path] == file.digest)
                && file.path.withCString { access($0, F_OK) } != 0 && errno == ENOENT
                && file.folder.withCString { access($0, F_OK) } == 0
        }
    }

    /// Lets the cover that a person has removed be written again.
    package func allow(_ file: WrittenFile) throws(Problem) { try forget(file) }
}
