import AlbumLibrary
import Files
package import Platform
import SQLite

/// What Sleeve remembers of music folders, beside a library: `<library file>.state/music.sqlite3`.
///
/// Each part adds its tables in a file of its own, `MusicState+Folders.swift` and so on, with a schema that begins with
/// `CREATE TABLE IF NOT EXISTS`. One process at a time changes it: `tryLock` first.
// because: one thread at a time has it. It moves from the thread that scans to the one that updates the library.
package final class MusicState: @unchecked Sendable {
    let database: Connection
    /// Nil for a process that only reads.
    private let lock: FileLock?
    /// The steps of writers into people's folders.
    let journal: StepJournal
    /// Of covers that were replaced and are in no cache: pictures of tags, and covers in the sizes of fills.
    private let keptFolder: String
    /// The library file.
    let library: String

    /// Raise it when a scan finds more in the same files, or a table changes its meaning. Nothing was released: a state of a former version is
    /// moved aside.
    private static let version = 10
    private static let schemas = [
        foldersSchema, albumsSchema, writtenSchema, rootsSchema, fillsSchema, decisionsSchema,
    ]

    /// Why the state cannot be used.
    package struct Problem: Error, CustomStringConvertible {
        package var description: String
    }

    /// The file that belongs to a library file.
    static func path(of library: String) -> String { AlbumStore.stateDirectory(of: library) + "/music.sqlite3" }

    /// Opens the state, and creates it if it is missing. Moves a damaged one, and one of a former version, aside: a scan finds everything in it
    /// again, except what a person has deleted or edited since, and which cover files fills have written: those count as a person's then.
    /// Decisions come back from their copy.
    /// - Parameters:
    ///   - library: The library file.
    ///   - notice: Called with a message if that happens.
    /// - Throws: `Problem`.
    package init(of library: String, notice: (String) -> Void) throws(Problem) {
        let folder = AlbumStore.stateDirectory(of: library)
        let file = Self.path(of: library)
        do {
            keptFolder = folder + "/replaced"
            try? OwnedPath.makeFolders(keptFolder)
            lock = try FileLock(path: folder + "/music.lock")
            self.library = library
            journal = StepJournal(directory: folder + "/music-steps")
            for repaired in journal.recover() { notice(repaired.message) }
            database = try DamagedFile.replacing(
                file, name: "music",
                notice: {
                    notice("what was remembered of music folders is damaged; moved it to \($0) and started a new one")
                },
                { try Self.open($0, notice) })
            let restored = try restoreDecisions()
            if restored > 0 {
                notice("what you accepted and refused, \(restored) times, is back from decisions.jsonl")
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(description: "cannot use \(file): \(error)")
        }
    }

    /// The state of a library, which another process may have; for reading. Nothing is moved aside or locked; SQLite rolls back what a
    /// process that was killed had begun.
    /// - Returns: Nil if the library has none.
    /// - Throws: `Problem`.
    package static func existing(of library: String) throws(Problem) -> MusicState? {
        let file = path(of: library)
        if access(file, F_OK) != 0 { return nil }
        do {
            let database = try Connection(file, .repairing, busyTimeout: .seconds(5))
            let version = try database.userVersion()
            if version > Self.version { throw newer(file) }
            if version > 0, version < Self.version {
                throw Problem(description: "\(file) is of an earlier version; a scan or a fill moves it aside")
            }
            return version == 0 ? nil : MusicState(of: library, reading: database)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(description: "cannot use \(file): \(error)")
        }
    }

    private init(of library: String, reading database: consuming Connection) {
        let folder = AlbumStore.stateDirectory(of: library)
        self.database = database
        lock = nil
        self.library = library
        (journal, keptFolder) = (StepJournal(directory: folder + "/music-steps"), folder + "/replaced")
    }

    private static func newer(_ file: String) -> Problem {
        Problem(description: "\(file) was made by a newer version of Sleeve")
    }

    /// Whether this process alone changes the state from now on.
    /// - Throws: `SystemError`.
    package func tryLock() throws -> Bool { try lock?.tryLock() ?? false }

    private static func open(_ file: String, _ notice: (String) -> Void) throws -> Connection {
        var database = try Connection(file, busyTimeout: .seconds(15), mustSync: false)
        let version = try database.userVersion()
        if version > Self.version { throw newer(file) }
        if version == Self.version { return database }
        if version > 0 {
            let aside = DamagedFile.newPath(FilePath.directory(of: file) + "/former-music", ".sqlite3")
            guard rename(file, aside) == 0 else { throw SystemError("rename", path: file) }
            notice(
                "what an earlier version remembered of music folders was moved to \(aside); covers that it wrote count as yours"
            )
            database = try Connection(file, busyTimeout: .seconds(15), mustSync: false)
        }
        try database.transaction(.immediate) {
            for schema in schemas { try database.execute(schema) }
            try database.execute("DELETE FROM folders; PRAGMA user_version = \(Self.version)")
        }
        return database
    }

    /// The file of a cover that was kept.
    package func keptCover(_ digest: Digest) -> String { "\(keptFolder)/\(digest)" }

    /// Keeps a cover that is about to be replaced, so that the fill can be taken back.
    /// - Throws: `Problem`.
    func keep(_ file: Written) throws(Problem) {
        do {
            let (bytes, isWhole) = try RegularFile.contents(of: file.path)
            guard isWhole else { throw MusicProblem(file.path, "it is too large") }
            try AtomicFile(bytes, replacing: keptCover(file.digest), mode: 0o600).replace()
        } catch {
            throw Problem(description: "the cover that it replaces cannot be kept for `sleeve fill undo`: \(error)")
        }
    }

    /// The file of a cover that was replaced, which is kept unless the cache has it.
    func replacedCover(_ digest: Digest, cached: (Digest) -> String) -> String {
        let (path, kept) = (cached(digest), keptCover(digest))
        return access(path, R_OK) != 0 && access(kept, R_OK) == 0 ? kept : path
    }

    /// Removes kept covers that no row has replaced which may be taken back.
    func sweepKept() {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: keptFolder), !names.isEmpty,
            let replaced = try? replacedDigests()
        else { return }
        for name in names where !replaced.contains(name) { "\(keptFolder)/\(name)".withCString { _ = unlink($0) } }
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func transaction(_ body: () throws -> Void) throws(Problem) {
        do {
            try database.transaction(.immediate, body)
        } catch {
            throw Problem(description: "cannot write what is remembered of music folders: \(error)")
        }
    }

    /// Runs a statement with the values of each item, all or none.
    func run<Item>(
        _ statement: String, for items: some Collection<Item>, _ values: (Item) throws -> [SQLValue]
    ) throws(Problem) {
        if items.isEmpty { return }
        try transaction { for item in items { try database.statement(statement).run(values(item)) } }
    }

    /// Reads from the database.
    func reading<Result>(_ body: () throws -> Result) throws(Problem) -> Result {
        do {
            return try body()
        } catch {
            throw Problem(description: "cannot read what is remembered of music folders: \(error)")
        }
    }

    /// What `read` makes of each row of a query, without the rows of which it makes nothing.
    /// - Parameter value: That of the query's only parameter; nil if it has none.
    func all<Value>(
        _ query: String, _ value: SQLValue? = nil, _ read: (borrowing Row) throws -> Value?
    ) throws(Problem) -> [Value] {
        try reading {
            var values: [Value] = []
            let statement = database.statement(query)
            if let value {
                try statement.each(value) { row in if let one = try read(row) { values.append(one) } }
            } else {
                try statement.each { row in if let one = try read(row) { values.append(one) } }
            }
            return values
        }
    }
}

extension Row {
    /// What `SQLValue.json` has written; nil if it is something else.
    borrowing func json<Value: Decodable>(_ column: Int32) -> Value? {
        withBytes(column) { try? JSONDecoder().decode(Value.self, from: Data($0 ?? .init(start: nil, count: 0))) }
    }

    borrowing func path(_ column: Int32) -> BytePath? {
        let bytes = bytes(column)
        return bytes.isEmpty ? nil : BytePath(bytes: bytes)
    }
}

extension SQLValue {
    static func json(_ value: some Encodable) throws -> SQLValue {
        .text(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }

    static func path(_ path: BytePath?) -> SQLValue { path.map { .blob($0.bytes) } ?? .null }
    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
}
