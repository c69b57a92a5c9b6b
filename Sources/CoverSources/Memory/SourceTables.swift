import Platform
import SQLite

/// The database of `SourceMemory`. Its version is `PRAGMA user_version`.
///
/// ```
/// tries       album, source, url | time (ms since 1970), answer, detail                     the last try of each URL
/// candidates  album, source, url, number | certainty, reason, score, description, ...       what that try found
/// decisions   album, picture | accepted                                                    what a person has decided about a cover
/// ```
final class SourceTables {
    /// Version 3 has lengths, and no rates.
    private static let version = 3
    /// `SourceCandidate.identity` of a row.
    private static let picture =
        "coalesce(release_group, substr(pictures, 1, instr(pictures || char(10), char(10)) - 1))"
    private let database: Connection

    /// - Throws: `SQLiteError`, or `SourceMemoryError.newerVersion`.
    init(path: String) throws {
        database = try Connection(path, busyTimeout: .seconds(15), mustSync: false)
        let found = try database.userVersion()
        if found > Self.version { throw SourceMemoryError.newerVersion(path: path) }
        // What is lost with the power is asked again.
        try database.execute("PRAGMA synchronous = NORMAL")
        if found == Self.version { return }
        // Answers of earlier versions lack what counts now: they are asked again. Decisions stay.
        try database.transaction(.immediate) {
            try database.execute(
                """
                DROP TABLE IF EXISTS tries;
                DROP TABLE IF EXISTS candidates;
                DROP TABLE IF EXISTS requests;
                CREATE TABLE tries (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, time INTEGER NOT NULL,
                    answer TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (album, source, url)) WITHOUT ROWID;
                CREATE TABLE candidates (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, number INTEGER NOT NULL,
                    certainty TEXT NOT NULL, reason TEXT NOT NULL, score INTEGER NOT NULL, description TEXT NOT NULL,
                    release_group TEXT, details TEXT, pictures TEXT NOT NULL,
                    PRIMARY KEY (album, source, url, number)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS decisions (
                    album TEXT NOT NULL, picture TEXT NOT NULL, accepted INTEGER NOT NULL,
                    PRIMARY KEY (album, picture)) WITHOUT ROWID;
                PRAGMA user_version = \(Self.version);
                """)
        }
    }

    func record(_ answer: SourceAnswer, _ candidates: [SourceCandidate], of album: String) throws {
        let place: [SQLValue] = [.text(album), .text(answer.source.rawValue), .text(answer.url)]
        try database.transaction(.immediate) {
            try database.statement("INSERT OR REPLACE INTO tries VALUES (?, ?, ?, ?, ?, ?)")
                .run(place + [.int(answer.time), .text(answer.kind.rawValue), .text(answer.detail)])
            // A try that says nothing about the album leaves what is known of it.
            if answer.lifetime == nil { return }
            try database.statement("DELETE FROM candidates WHERE album = ? AND source = ? AND url = ?").run(place)
            let insertion = database.statement("INSERT INTO candidates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            for (number, candidate) in candidates.enumerated() {
                let match = candidate.match
                let description = try JSONEncoder().encode(candidate.album)
                try insertion.run(
                    place + [
                        .int(number), .text(match.certainty.rawValue), .text(match.reason), .int(match.score),
                        .text(String(decoding: description, as: UTF8.self)),
                        candidate.album.releaseGroupID.map { .text($0) } ?? .null,
                        candidate.details.map { .text($0) } ?? .null,
                        .text(candidate.pictures.joined(separator: "\n")),
                    ])
            }
        }
    }

    /// The last try of each URL, the oldest first.
    func tries(of album: String) throws -> [SourceAnswer] {
        var tries: [SourceAnswer] = []
        try database.statement(
            "SELECT source, url, time, answer, detail FROM tries WHERE album = ? ORDER BY time, source"
        )
        .each(.text(album)) { row in
            guard let source = SourceName(rawValue: row.text(0)),
                let kind = SourceAnswer.Kind(rawValue: row.text(3))
            else { return }
            tries.append(
                SourceAnswer(
                    source, kind, url: row.text(1), time: row.int64(2), detail: row.text(4), isRemembered: true))
        }
        return tries
    }

    /// What the last tries found, by their sources and URLs.
    func candidates(of album: String) throws -> [(url: String, candidate: SourceCandidate)] {
        var found: [(String, SourceCandidate)] = []
        try database.statement(
            """
            SELECT source, url, certainty, reason, score, description, details, pictures
            FROM candidates WHERE album = ? ORDER BY source, url, number
            """
        ).each(.text(album)) { row in
            guard let source = SourceName(rawValue: row.text(0)),
                let certainty = Match.Certainty(rawValue: row.text(2)),
                let description = try? JSONDecoder().decode(AlbumQuery.self, from: Data(row.text(5).utf8))
            else { return }
            let candidate = SourceCandidate(
                source: source, album: description,
                pictures: row.text(7).split(separator: "\n").map { String($0) }, details: row.optionalText(6),
                match: Match(certainty, row.text(3), score: row.int(4)))
            found.append((row.text(1), candidate))
        }
        return found
    }

    /// Remembers a decision about a cover, also for what sources find later.
    func decide(_ picture: String, of album: String, isAccepted: Bool) throws {
        try database.statement("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?)")
            .run(.text(album), .text(picture), .int(isAccepted ? 1 : 0))
    }

    /// Replaces what was judged of a cover.
    func judge(_ picture: String, _ match: Match, of album: String) throws {
        try database.statement(
            "UPDATE candidates SET certainty = ?, reason = ? WHERE album = ? AND \(Self.picture) = ?"
        ).run(.text(match.certainty.rawValue), .text(match.reason), .text(album), .text(picture))
    }

    /// Whether each cover about which a person has decided was accepted, by its identity.
    func decisions(of album: String) throws -> [String: Bool] {
        var decisions: [String: Bool] = [:]
        try database.statement("SELECT picture, accepted FROM decisions WHERE album = ?")
            .each(.text(album)) { decisions[$0.text(0)] = $0.int(1) != 0 }
        return decisions
    }

    func forgetDecision(about picture: String, of album: String) throws {
        try database.statement("DELETE FROM decisions WHERE album = ? AND picture = ?")
            .run(.text(album), .text(picture))
    }

    func forgetDecisions(of album: String, isAccepted: Bool) throws {
        try database.statement("DELETE FROM decisions WHERE album = ? AND accepted = ?")
            .run(.text(album), .int(isAccepted ? 1 : 0))
    }

    /// The keys of albums for which the last answers of sources have a doubtful candidate and no certain one, as decisions have it.
    func doubtfulAlbums() throws -> [String] {
        var keys: [String] = []
        try database.statement(
            """
            SELECT candidates.album FROM candidates
            JOIN (SELECT album, source, url, max(time) FROM tries GROUP BY album, source) USING (album, source, url)
            LEFT JOIN decisions ON decisions.album = candidates.album AND picture = \(Self.picture)
            GROUP BY candidates.album
            HAVING max(accepted IS NULL AND certainty = 'doubtful') AND NOT max(coalesce(accepted, certainty = 'certain'))
            ORDER BY candidates.album
            """
        ).each { keys.append($0.text(0)) }
        return keys
    }
}
