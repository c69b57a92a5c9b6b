import CZlib
import Platform
import SQLite

/// What sources answered, by request, and what is wrong with pictures that they offered: `<library file>.state/sources.sqlite3`, whose version is
/// `PRAGMA user_version`.
///
/// ```
/// tries       request | time (ms since 1970), length, albums     what the last answer tells of albums: JSON, compressed (RFC 1950)
/// candidates  picture | ground, text                             why the picture, `SourceCandidate.identity`, is no cover
/// ```
///
/// It spares the services, and `sleeve why` and `sleeve fill review` tell from it: answers are judged when they are read, by what is known of the
/// album then. It is a cache: a damaged one is moved aside. Requests are named by `SourceRequest.key`; failures are not kept.
package actor SourceMemory {
    private nonisolated let thread = ThreadExecutor()
    private let path: String
    private let database: Connection

    /// Version 8 has answers by request, and no judgements.
    private static let version = 8

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
        if found > 0 { notice("what an earlier version remembered of sources was dropped; they are asked again") }
        try database.transaction(.immediate) {
            try database.execute(
                """
                DROP TABLE IF EXISTS tries;
                DROP TABLE IF EXISTS candidates;
                DROP TABLE IF EXISTS requests;
                DROP TABLE IF EXISTS decisions;
                CREATE TABLE tries (
                    request TEXT PRIMARY KEY, time INTEGER NOT NULL, length INTEGER NOT NULL, albums BLOB NOT NULL);
                CREATE TABLE candidates (picture TEXT PRIMARY KEY, ground TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
                PRAGMA user_version = \(version);
                """)
        }
        return database
    }

    private func perform<Result>(_ body: () throws -> Result) throws(SourceMemoryError) -> Result {
        try SourceMemoryError.wrapping(path, body)
    }

    // MARK: Answers

    /// What the last answer to a request says, and when it was given, in milliseconds since 1970; nil if there is none that can be read.
    nonisolated func reading(of request: String) async throws -> (reading: SourceReading, time: Int64)? {
        guard let (bytes, time) = try await answer(to: request),
            let albums = try? JSONDecoder().decode([SourceCandidate].self, from: Data(bytes))
        else { return nil }
        return (SourceReading(albums), time)
    }

    private func answer(to request: String) throws(SourceMemoryError) -> ([UInt8], Int64)? {
        try perform {
            try database.statement("SELECT time, length, albums FROM tries WHERE request = ?").first(.text(request)) {
                (Self.decompressed($0.bytes(2), length: $0.int(1)), $0.int64(0))
            }
        }
    }

    /// Keeps what an answer says in place of the earlier answer to the request.
    func keep(_ reading: SourceReading, of request: String, at time: Int64) throws(SourceMemoryError) {
        _ = try perform {
            let bytes = Array(try JSONEncoder().encode(reading.albums))
            try database.statement("INSERT OR REPLACE INTO tries VALUES (?, ?, ?, ?)")
                .run(.text(request), .int(time), .int(bytes.count), .blob(Self.compressed(bytes)))
        }
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var length = compressBound(uLong(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(length))
        guard compress(&result, &length, bytes, uLong(bytes.count)) == Z_OK else { return [] }
        return Array(result.prefix(Int(length)))
    }

    /// Empty if the bytes are damaged: no source answers so.
    private static func decompressed(_ bytes: [UInt8], length: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: min(max(0, length), 4 * SourceResponse.maximumSize))
        var size = uLong(result.count)
        return uncompress(&result, &size, bytes, uLong(bytes.count)) == Z_OK ? result : []
    }

    /// Why pictures are no covers, by `SourceCandidate.identity`.
    func fault(of picture: String) throws(SourceMemoryError) -> Match? {
        try perform {
            try database.statement("SELECT ground, text FROM candidates WHERE picture = ?").first(.text(picture)) {
                row in
                let ground = Match.Ground(rawValue: row.text(0))
                return ground == .repeated ? .repeated : .rejected(row.text(1))
            }
        }
    }

    /// - Parameter fault: Why a picture is no cover; nil if it is one by now.
    func note(_ fault: Match?, of picture: String) throws(SourceMemoryError) {
        _ = try perform {
            if let fault {
                try database.statement("INSERT OR REPLACE INTO candidates VALUES (?, ?, ?)")
                    .run(.text(picture), .text(fault.ground.rawValue), .text(fault.reason))
            } else {
                try database.statement("DELETE FROM candidates WHERE picture = ?").run(.text(picture))
            }
        }
    }
}

/// Why the memory of sources cannot be used.
package struct SourceMemoryError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    static func newerVersion(path: String) -> Self {
        Self(description: "\(path) was written by a newer version of Sleeve; use that version")
    }

    /// What is done with a database; any error is one of these.
    static func wrapping<Result: ~Copyable>(
        _ path: String, _ act: () throws -> Result
    ) throws(SourceMemoryError) -> Result {
        do {
            return try act()
        } catch {
            throw error as? Self ?? Self(description: "cannot use the memory of sources in \(path): \(error)")
        }
    }

    /// Opens a database of the user's, and creates it and its folder if they are missing. A damaged one is moved aside.
    static func opening<Database: ~Copyable>(
        _ path: String, name: String, notice: (String) -> Void, _ open: (String) throws -> Database
    ) throws(SourceMemoryError) -> Database {
        try? OwnedPath.makeFolders(FilePath.directory(of: path))
        return try wrapping(path) { try DamagedFile.replacing(path, name: name, notice: notice, open) }
    }
}

extension SourceMemory {
    /// What is kept of an album, whatever its age, as it is judged today.
    package struct Record: Sendable {
        /// The answers of sources, in their order.
        package let answers: [SourceAnswer]
        /// The sources that were asked for all that may tell.
        package let complete: Set<SourceName>
        /// Why others cannot be asked.
        package let lacks: [SourceAnswer]
        /// The covers in them, and those that ids locate, which are not judged; with what a person has decided, the best first.
        package let covers: [SourceCandidate]
    }

    /// - Parameters:
    ///   - memory: Nil if no source was ever asked.
    ///   - sources: All services, in the order of asking.
    package static func record(
        of query: AlbumQuery, _ decisions: Decisions, _ sources: [CoverSource], in memory: SourceMemory?
    ) async throws -> Record {
        let search = try await SourceSearch(sources, query, decisions) { try await memory?.reading(of: $0.key) }
        var (answers, lacks, found) = ([SourceAnswer](), [SourceAnswer](), [SourceCandidate]())
        for walk in search.walks {
            var covers = walk.time == nil ? walk.albums : walk.covers
            for index in covers.indices where covers[index].certainty != .none {
                covers[index].match = try await memory?.fault(of: covers[index].identity) ?? covers[index].match
            }
            covers = search.decided(covers)
            found += covers
            if let time = walk.time { answers.append(walk.answer(covers, at: time)) }
            if walk.lack != nil { lacks.append(walk.answer(covers, at: WallClock.milliseconds())) }
        }
        let complete = Set(search.walks.filter { $0.time != nil && $0.isComplete }.map(\.source.name))
        return Record(answers: answers, complete: complete, lacks: lacks, covers: found.ordered())
    }
}

extension [SourceCandidate] {
    /// The covers with what a person has decided in place of what was judged, the best first.
    /// - Parameter all: What sources have found for the album.
    func decided(by decisions: Decisions, for query: AlbumQuery, among all: [SourceCandidate]) -> [SourceCandidate] {
        // Once a person has refused a cover that was certain, or would be for today's facts, another one is doubtful: it is most likely the same.
        let isDoubted = decisions.current.contains { said in
            guard said.verdict == .refused else { return false }
            return said.wasCertain
                || Match.judge(query, said.picture.album, hasNamesake: true).certainty == .certain
                || all.contains { $0.certainty == .certain && $0.name.isNamed(like: said.picture) }
        }
        return map { cover in
            switch decisions.ruling(on: cover.name) {
            case .accepted: cover.judged(.accepted)
            case .refused: cover.judged(.refused)
            case nil where isDoubted && cover.certainty == .certain:
                cover.doubted("you refused a certain cover of the album")
            case .allowed, .alike, nil: cover
            }
        }.ordered()
    }
}
