import Files
package import Platform
import SQLite

/// What is remembered of fills beside the files that they wrote: what the last one was asked for, and what was said.
extension MusicState {
    static let fillsSchema = """
        CREATE TABLE IF NOT EXISTS last_fill (number INTEGER PRIMARY KEY CHECK (number = 1), request TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS repeated_pictures (digest TEXT PRIMARY KEY) WITHOUT ROWID;
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

    /// Doubtful covers that fills have found.
    package func proposals() throws(Problem) -> [Proposal] {
        try reading {
            var proposals: [Proposal] = []
            try database.statement("SELECT number, album, picture FROM proposals").each {
                proposals.append(Proposal(number: $0.int(0), album: $0.text(1), picture: $0.text(2)))
            }
            return proposals
        }
    }

    /// Gives those their numbers that have none.
    package func add(_ proposals: [Proposal]) throws(Problem) {
        if proposals.isEmpty { return }
        try transaction {
            for one in proposals {
                // An insertion that is ignored would use up a number.
                try database.statement(
                    """
                    INSERT INTO proposals (album, picture) SELECT ?1, ?2
                    WHERE NOT EXISTS (SELECT 1 FROM proposals WHERE album = ?1 AND picture = ?2)
                    """
                ).run(.text(one.album), .text(one.picture))
            }
        }
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
