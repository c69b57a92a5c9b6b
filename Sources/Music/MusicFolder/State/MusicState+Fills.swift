package import CoverSizes
package import Platform
import SQLite

/// What is remembered of fills beside the files that they wrote: what the last one was asked for, what was said, and what pictures show that were
/// compared, also those that audits have read.
extension MusicState {
    static let fillsSchema = """
        CREATE TABLE IF NOT EXISTS last_fill (number INTEGER PRIMARY KEY CHECK (number = 1), request TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS repeated_pictures (digest TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS likenesses (digest BLOB PRIMARY KEY, version INTEGER NOT NULL, likeness BLOB NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS told (folders TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (folders, message))
            WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS proposals (
            number INTEGER PRIMARY KEY AUTOINCREMENT, album TEXT NOT NULL, picture TEXT NOT NULL, UNIQUE (album, picture));
        """

    /// The options of the last fill, as words of a command line; nil if there was none.
    package func lastFill() throws(Problem) -> [String]? {
        try reading { try database.statement("SELECT request FROM last_fill").first { $0.json(0) } ?? nil }
    }

    package func save(lastFill options: [String]) throws(Problem) {
        try transaction {
            try database.statement("INSERT OR REPLACE INTO last_fill VALUES (1, ?)").run(.json(options))
        }
    }

    /// The pictures that fills have found for unrelated albums.
    package func repeatedPictures() throws(Problem) -> Set<Digest> {
        Set(try all("SELECT digest FROM repeated_pictures") { Digest($0.text(0)) })
    }

    package func save(repeatedPictures digests: Set<Digest>) throws(Problem) {
        try run("INSERT OR IGNORE INTO repeated_pictures VALUES (?)", for: digests) { [.text($0.description)] }
    }

    /// Those that are known. Those of earlier versions are made again.
    package func likenesses() throws(Problem) -> [Digest: Likeness] {
        let known: [(Digest, Likeness)] = try all(
            "SELECT digest, likeness FROM likenesses WHERE version = ?", .int(Likeness.version)
        ) { row in
            guard let digest = row.digest(0), let likeness = Likeness(stored: row.bytes(1)) else { return nil }
            return (digest, likeness)
        }
        return Dictionary(known) { $1 }
    }

    package func save(_ likenesses: [Digest: Likeness]) throws(Problem) {
        try run("INSERT OR REPLACE INTO likenesses VALUES (?, ?, ?)", for: likenesses) { digest, likeness in
            [.digest(digest), .int(Likeness.version), .blob(likeness.stored)]
        }
    }

    /// The messages that no fill of the folders has said.
    package func news(_ messages: Set<String>, of folders: [BytePath]) throws(Problem) -> Set<String> {
        let told = try all("SELECT message FROM told WHERE folders = ?", Self.key(folders)) { $0.text(0) }
        return messages.subtracting(told)
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

    /// Doubtful covers that fills have found.
    package func proposals() throws(Problem) -> [Proposal] {
        try all("SELECT number, album, picture FROM proposals") { row in
            Proposal(number: row.int(0), album: row.text(1), picture: row.text(2))
        }
    }

    /// Gives those their numbers that have none.
    package func add(_ proposals: [Proposal]) throws(Problem) {
        // An insertion that is ignored would use up a number.
        try run(
            """
            INSERT INTO proposals (album, picture) SELECT ?1, ?2
            WHERE NOT EXISTS (SELECT 1 FROM proposals WHERE album = ?1 AND picture = ?2)
            """, for: proposals
        ) { [.text($0.album), .text($0.picture)] }
    }

    private static func key(_ folders: [BytePath]) -> SQLValue {
        .text(folders.map { "\($0)" }.sorted().joined(separator: "\n"))
    }
}

/// An album and its first doubtful cover. A person names them by a number that a fill has given, and that is never given again: what was read in
/// a list means the same as long as it is there.
package struct Proposal: Sendable, Hashable {
    package var number = 0
    /// The album's id in the library.
    package var album: String
    /// The cover's `identity`.
    package var picture: String

    package init(number: Int = 0, album: String, picture: String) {
        (self.number, self.album, self.picture) = (number, album, picture)
    }
}
