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
