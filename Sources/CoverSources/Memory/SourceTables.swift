import Platform
import SQLite

/// The database of `SourceMemory`. Its version is `PRAGMA user_version`.
///
/// ```
/// tries       album, source, url | time (ms since 1970), answer, detail                     the last try of each URL
/// candidates  album, source, url, number | certainty, reason, score, artist, title, ...     what that try found
/// decisions   album, picture | accepted                                                    what a person has decided about a cover
/// requests    source, time                                                                 the last interval of each source's rate
/// ```
final class SourceTables {
    private static let version = 2
    /// `SourceCandidate.identity` of a row.
    private static let picture =
        "coalesce(release_group, substr(pictures, 1, instr(pictures || char(10), char(10)) - 1))"
    private let database: Connection

    /// - Throws: `SQLiteError`, or `SourceMemoryError.newerVersion`.
    init(path: String) throws {
        database = try Connection(path, busyTimeout: .seconds(15))
        let found = try database.userVersion()
        if found > Self.version { throw SourceMemoryError.newerVersion(path: path) }
        // What is lost with the power is asked again.
        try database.execute("PRAGMA synchronous = NORMAL")
        if found == Self.version { return }
        try database.transaction(.immediate) {
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS tries (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, time INTEGER NOT NULL,
                    answer TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (album, source, url)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS candidates (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, number INTEGER NOT NULL,
                    certainty TEXT NOT NULL, reason TEXT NOT NULL, score INTEGER NOT NULL, artist TEXT NOT NULL,
                    title TEXT NOT NULL, year INTEGER, tracks INTEGER, release TEXT, release_group TEXT,
                    pictures TEXT NOT NULL, PRIMARY KEY (album, source, url, number)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS decisions (
                    album TEXT NOT NULL, picture TEXT NOT NULL, accepted INTEGER NOT NULL,
                    PRIMARY KEY (album, picture)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS requests (source TEXT NOT NULL, time INTEGER NOT NULL);
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
            let insertion = database.statement(
                "INSERT INTO candidates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            for (number, candidate) in candidates.enumerated() {
                let (found, match) = (candidate.album, candidate.match)
                try insertion.run(
                    place + [
                        .int(number), .text(match.certainty.rawValue), .text(match.reason), .int(match.score),
                        .text(found.artist), .text(found.title), .int(found.year), .int(found.trackCount),
                        found.releaseID.map { .text($0) } ?? .null, found.releaseGroupID.map { .text($0) } ?? .null,
                        .text(candidate.pictures.joined(separator: "\n")),
                    ])
            }
        }
    }

    /// Notes a request that is about to be sent, unless the rate forbids it, also counting those of other processes and of earlier runs.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: How long to wait before the next try, in milliseconds; 0 if the request may be sent.
    func reserve(_ source: SourceName, _ rate: RateRule, at now: Int64) throws -> Int64 {
        let interval = Int64((rate.interval / .milliseconds(1)).rounded(.up))
        return try database.transaction(.immediate) {
            // Times ahead of now are those of a wrong clock.
            try database.statement("DELETE FROM requests WHERE source = ? AND (time <= ? OR time > ?)")
                .run(.text(source.rawValue), .int(now - interval), .int(now))
            let oldest = try database.statement(
                "SELECT time FROM requests WHERE source = ? ORDER BY time DESC LIMIT 1 OFFSET ?"
            ).first(.text(source.rawValue), .int(rate.requests - 1)) { $0.int64(0) }
            if let oldest { return max(1, oldest + interval - now) }
            try database.statement("INSERT INTO requests VALUES (?, ?)").run(.text(source.rawValue), .int(now))
            return 0
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
            SELECT source, url, certainty, reason, score, artist, title, year, tracks, release, release_group, pictures
            FROM candidates WHERE album = ? ORDER BY source, url, number
            """
        ).each(.text(album)) { row in
            guard let source = SourceName(rawValue: row.text(0)),
                let certainty = Match.Certainty(rawValue: row.text(2))
            else { return }
            let description = AlbumQuery(
                artist: row.text(5), title: row.text(6), year: row.optionalInt(7), trackCount: row.optionalInt(8),
                releaseID: row.optionalText(9), releaseGroupID: row.optionalText(10))
            found.append(
                (
                    row.text(1),
                    SourceCandidate(
                        source: source, album: description,
                        pictures: row.text(11).split(separator: "\n").map { String($0) },
                        match: Match(certainty, row.text(3), score: row.int(4)))
                ))
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
        try database.statement("DELETE FROM decisions WHERE album = ? AND picture = ?").run(
            .text(album), .text(picture))
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
