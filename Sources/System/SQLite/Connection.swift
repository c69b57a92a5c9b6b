import CSQLite
import Platform

/// A connection to an SQLite database. All of Sleeve's SQLite goes through it.
///
/// It has one owner, and its calls come from one thread at a time: SQLite's own locks are off. Its statements end with it.
package struct Connection: ~Copyable {
    package enum Access {
        case reading, writing
        /// Reads a file that exists. What a process that was killed had begun is rolled back first, which `reading` cannot do.
        case repairing
        /// Reads a file that no process writes meanwhile, without locks and without a log beside it.
        case immutable
    }

    package enum Transaction: String {
        /// Reads one snapshot. The first write takes the write lock, or fails if another connection has written since.
        case deferred = "BEGIN DEFERRED"
        /// Takes the write lock first.
        case immediate = "BEGIN IMMEDIATE"
    }

    /// The statements prepared so far, by their text.
    private final class Statements {
        var all: [String: Statement] = [:]
        var staysOpen = false
    }

    /// What SQLite asks while a statement runs.
    private final class Question {
        let isCancelled: () -> Bool
        init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
    }

    private let database: OpaquePointer
    private let mustSync: Bool
    private let statements = Statements()

    /// Opens a database. The file is read by the first statement: only then a file that is no database is an error.
    /// - Parameters:
    ///   - access: `writing` creates the file if it is missing, for its folder's owner alone.
    ///   - busyTimeout: How long a statement waits for another connection before it fails with `busy`.
    ///   - mustSync: On a file system that cannot sync files, transactions fail. Else they go on without.
    package init(
        _ path: String, _ access: Access = .writing, busyTimeout: Duration = .zero, mustSync: Bool = true
    ) throws(SQLiteError) {
        _ = SQLiteProcess.settings
        let flags =
            switch access {
            case .reading: SQLITE_OPEN_READONLY
            case .repairing: SQLITE_OPEN_READWRITE
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        if access == .writing, path.contains("/") {
            // One that exists is not opened: closing it would release the locks that SQLite holds in this process (fcntl(2)).
            let file = OwnedPath.create(path, O_RDWR | O_EXCL | O_NOFOLLOW)
            if file >= 0 { close(file) }
        }
        let path = access == .immutable ? Self.immutableURI(path) : path
        var opened: OpaquePointer?
        var code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        if code == SQLITE_OK { code = Self.setBusyTimeout(busyTimeout, of: opened) }
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, of: opened)
            sqlite3_close(opened)
            throw error
        }
        (database, self.mustSync) = (opened, mustSync)
    }

    /// The file as a URI (sqlite.org/uri.html).
    private static func immutableURI(_ path: String) -> String {
        let escaped = path.map { ["%": "%25", "?": "%3f", "#": "%23"][$0] ?? String($0) }.joined()
        return (path.hasPrefix("/") ? "file://" : "file:") + escaped + "?immutable=1"
    }

    /// Rolls an open transaction back.
    deinit {
        for statement in statements.all.values { statement.close() }
        if statements.staysOpen { return }
        let code = sqlite3_close(database)
        assert(code == SQLITE_OK, "a statement outlives its connection")
    }

    // MARK: Statements

    /// The statement of this text. It is prepared when it first runs, and stays prepared.
    package borrowing func statement(_ sql: String) -> Statement {
        if let known = statements.all[sql] { return known }
        let new = Statement(sql, database)
        statements.all[sql] = new
        return new
    }

    /// Executes statements, separated by semicolons, that have no parameters. Their rows are ignored.
    package borrowing func execute(_ script: String) throws(SQLiteError) {
        try check(sqlite3_exec(database, script, nil, nil, nil), database, sql: script)
    }

    /// The integer that a statement without parameters returns; nil for NULL and for no row.
    package borrowing func integer(_ sql: String) throws -> Int64? {
        try statement(sql).first { $0.optionalInt64(0) } ?? nil
    }

    package borrowing func hasTable(_ name: String) throws -> Bool {
        try statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").first(.text(name)) { _ in true }
            ?? false
    }

    /// The number that a program stores as its format's version; 0 in a new database.
    package borrowing func userVersion() throws -> Int {
        Int(try integer("PRAGMA user_version") ?? 0)
    }

    /// Whether closing the last connection moves the log into the database, as SQLite does by itself.
    package borrowing func setCheckpointsAtClose(_ isOn: Bool) throws(SQLiteError) {
        try check(sleeve_sqlite_keep_log(database, isOn ? 0 : 1), database)
    }

    /// Leaves the files open when this connection ends: closing them would release the locks that other connections of this process have
    /// on the same files (fcntl(2)).
    package borrowing func leaveOpen() { statements.staysOpen = true }

    /// Runs `body`, whose statements fail with `SQLITE_INTERRUPT` soon after `isCancelled` has become true.
    package borrowing func interrupting<Result>(
        when isCancelled: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let question = Question(isCancelled)
        sqlite3_progress_handler(
            database, 10_000,
            { Unmanaged<Question>.fromOpaque($0!).takeUnretainedValue().isCancelled() ? 1 : 0 },
            Unmanaged.passUnretained(question).toOpaque())
        defer { sqlite3_progress_handler(database, 0, nil, nil) }
        return try withExtendedLifetime(question) { try body() }
    }

    package borrowing func setBusyTimeout(_ timeout: Duration) throws(SQLiteError) {
        try check(Self.setBusyTimeout(timeout, of: database), database)
    }

    private static func setBusyTimeout(_ timeout: Duration, of database: OpaquePointer?) -> Int32 {
        sqlite3_busy_timeout(database, Int32(timeout / .milliseconds(1)))
    }

    // MARK: Transactions

    package var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    package borrowing func begin(_ kind: Transaction) throws(SQLiteError) { try statement(kind.rawValue).run() }
    package borrowing func commit() throws(SQLiteError) { try statement("COMMIT").run() }

    /// Runs `body` in a transaction, which is rolled back if it throws. It runs again if the file system turns out not to sync files.
    package borrowing func transaction<Result>(
        _ kind: Transaction, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try attempt(kind, body)
        } catch let error as SQLiteError where !mustSync && error.extendedCode == .sync {
            guard let cause = error.cause, DurableFile.isUnsupported(cause.number) else { throw error }
            try execute("PRAGMA synchronous = OFF")
            return try attempt(kind, body)
        }
    }

    private borrowing func attempt<Result>(_ kind: Transaction, _ body: () throws -> Result) throws -> Result {
        try begin(kind)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // SQLite itself rolls back after some errors, such as a full disk. If it cannot, the next transaction fails to begin.
            if isInTransaction { _ = try? statement("ROLLBACK").run() }
            throw error
        }
    }
}

/// Settings for every connection of the process. They have no effect if the process has used SQLite before.
private enum SQLiteProcess {
    static let settings: Void = {
        // Memory statistics are kept under one lock, on which threads that look covers up and the thread that stores them contend.
        _ = sleeve_sqlite_count_memory(0)
        _ = SQLiteLog.start
    }()
}
