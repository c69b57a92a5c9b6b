import Platform
import SQLite

/// What sources were asked for which album, and what they answered: `<library file>.state/sources.sqlite3`, whose version is `PRAGMA user_version`.
///
/// ```
/// tries       album, source, url | time (ms since 1970), answer, detail                     the last try of each URL
/// candidates  album, source, url, number | certainty, ground, lines, score, description, ... what that try found
/// ```
///
/// It spares the services: an album that one of them does not have is asked for again after 30 days. `sleeve why` tells from it. It is
/// disposable: a damaged one is moved aside. Albums are named by `AlbumQuery.key`.
package actor SourceMemory {
    private nonisolated let thread = ThreadExecutor()
    private let path: String
    private let database: Connection

    /// Version 3 has lengths, and no rates; version 4 previews; version 5 what decided about a cover; version 6 no sizes;
    /// version 7 the sources' own ids, and no decisions of a person.
    private static let version = 7
    /// `SourceCandidate.identity` of a row.
    private static let picture =
        "coalesce(release_group, substr(pictures, 1, instr(pictures || char(10), char(10)) - 1))"

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The path of the memory in the state directory of a library file.
    package static func path(in stateDirectory: String) -> String { stateDirectory + "/sources.sqlite3" }

    /// Opens the memory, and creates it if it is missing.
    /// - Parameter notice: receives what a person should know, such as that a damaged memory was moved aside.
    /// - Throws: `SourceMemoryError`.
    package init(path: String, notice: (String) -> Void) throws(SourceMemoryError) {
        self.path = path
        database = try SourceMemoryError.opening(
            path, name: "sources",
            notice: { notice("the memory of sources is damaged; moved it to \($0) and started a new one") },
            { try Self.open($0, notice) })
    }

    deinit { thread.shutdown() }

    /// - Throws: `SQLiteError`, or `SourceMemoryError.newerVersion`.
    private static func open(_ path: String, _ notice: (String) -> Void) throws -> Connection {
        let database = try Connection(path, busyTimeout: .seconds(15), mustSync: false)
        let found = try database.userVersion()
        if found > version { throw SourceMemoryError.newerVersion(path: path) }
        // What is lost with the power is asked again.
        try database.execute("PRAGMA synchronous = NORMAL")
        if found == version { return database }
        // Answers of earlier versions lack what counts now: they are asked again.
        if found > 0 {
            notice(
                "what an earlier version remembered of sources was dropped, with what you accepted and refused there")
        }
        try database.transaction(.immediate) {
            try database.execute(
                """
                DROP TABLE IF EXISTS tries;
                DROP TABLE IF EXISTS candidates;
                DROP TABLE IF EXISTS requests;
                DROP TABLE IF EXISTS decisions;
                CREATE TABLE tries (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, time INTEGER NOT NULL,
                    answer TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (album, source, url)) WITHOUT ROWID;
                CREATE TABLE candidates (
                    album TEXT NOT NULL, source TEXT NOT NULL, url TEXT NOT NULL, number INTEGER NOT NULL,
                    certainty TEXT NOT NULL, ground TEXT NOT NULL, lines TEXT NOT NULL, score INTEGER NOT NULL,
                    description TEXT NOT NULL, release_group TEXT, id TEXT, details TEXT, pictures TEXT NOT NULL, previews TEXT NOT NULL,
                    PRIMARY KEY (album, source, url, number)) WITHOUT ROWID;
                PRAGMA user_version = \(version);
                """)
        }
        return database
    }

    private func perform<Result>(_ body: () throws -> Result) throws(SourceMemoryError) -> Result {
        try SourceMemoryError.wrapping(path, body)
    }

    // MARK: Answers

    /// What is known of an album.
    package func record(of album: String) throws(SourceMemoryError) -> Record {
        try perform {
            var record = Record()
            try database.statement(
                "SELECT source, url, time, answer, detail FROM tries WHERE album = ? ORDER BY time, source"
            ).each(.text(album)) { row in
                guard let kind = SourceAnswer.Kind(rawValue: row.text(3)) else { return }
                record.answers.append(
                    SourceAnswer(
                        SourceName(rawValue: row.text(0)), kind, url: row.text(1), time: row.int64(2),
                        detail: row.text(4), isRemembered: true))
            }
            try database.statement(
                """
                SELECT source, url, certainty, ground, lines, score, description, details, pictures, previews, id
                FROM candidates WHERE album = ? ORDER BY source, url, number
                """
            ).each(.text(album)) { row in
                guard let certainty = Match.Certainty(rawValue: row.text(2)),
                    let ground = Match.Ground(rawValue: row.text(3)),
                    let lines = try? JSONDecoder().decode([Match.Line].self, from: Data(row.text(4).utf8)),
                    let description = try? JSONDecoder().decode(AlbumQuery.self, from: Data(row.text(6).utf8))
                else { return }
                let candidate = SourceCandidate(
                    source: SourceName(rawValue: row.text(0)), album: description,
                    pictures: row.text(8).split(separator: "\n").map { String($0) },
                    previews: row.text(9).split(separator: "\n").map { String($0) }, details: row.optionalText(7),
                    id: row.optionalText(10), match: Match(certainty, lines, ground: ground, score: row.int(5)))
                record.found.append((row.text(1), candidate))
            }
            return record
        }
    }

    /// Remembers an answer and what it found, in place of the earlier answer to the same request.
    package func note(
        _ answer: SourceAnswer, _ candidates: [SourceCandidate] = [], of album: String
    ) throws(SourceMemoryError) {
        let place: [SQLValue] = [.text(album), .text(answer.source.rawValue), .text(answer.url)]
        try perform {
            try database.transaction(.immediate) {
                try database.statement("INSERT OR REPLACE INTO tries VALUES (?, ?, ?, ?, ?, ?)")
                    .run(place + [.int(answer.time), .text(answer.kind.rawValue), .text(answer.detail)])
                // A try that says nothing about the album leaves what is known of it.
                if answer.lifetime == nil { return }
                try database.statement("DELETE FROM candidates WHERE album = ? AND source = ? AND url = ?").run(place)
                let insertion = database.statement(
                    "INSERT INTO candidates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                for (number, candidate) in candidates.enumerated() {
                    let judged = place + [.int(number)] + (try Self.values(of: candidate.match))
                    try insertion.run(
                        judged + [
                            try Self.json(candidate.album),
                            candidate.album.releaseGroupID.map { .text($0) } ?? .null,
                            candidate.id.map { .text($0) } ?? .null,
                            candidate.details.map { .text($0) } ?? .null,
                            .text(candidate.pictures.joined(separator: "\n")),
                            .text(candidate.previews.joined(separator: "\n")),
                        ])
                }
            }
        }
    }

    /// Replaces what was judged of a cover, until its source is asked again.
    package func judge(_ candidate: SourceCandidate, of album: String) throws(SourceMemoryError) {
        try perform {
            _ = try database.statement(
                "UPDATE candidates SET certainty = ?, ground = ?, lines = ?, score = ? WHERE album = ? AND \(Self.picture) = ?"
            ).run(Self.values(of: candidate.match) + [.text(album), .text(candidate.identity)])
        }
    }

    /// Certainty, ground, lines and score.
    private static func values(of match: Match) throws -> [SQLValue] {
        [
            .text(match.certainty.rawValue), .text(match.ground.rawValue), try json(match.lines), .int(match.score),
        ]
    }

    private static func json(_ value: some Encodable) throws -> SQLValue {
        .text(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }

    /// The keys of the albums for which the last answers of sources have a doubtful cover and no certain one.
    package func doubtfulAlbums() throws(SourceMemoryError) -> [String] {
        try perform {
            var keys: [String] = []
            try database.statement(
                """
                SELECT candidates.album FROM candidates
                JOIN (SELECT album, source, url, max(time) FROM tries GROUP BY album, source) USING (album, source, url)
                GROUP BY album
                HAVING max(certainty = 'doubtful') AND NOT max(certainty = 'certain')
                ORDER BY album
                """
            ).each { keys.append($0.text(0)) }
            return keys
        }
    }
}
