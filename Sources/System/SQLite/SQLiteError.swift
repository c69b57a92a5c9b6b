import CSQLite
package import Platform
import Synchronization

/// An error that SQLite has returned, or one of data that SQLite has read.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A result code (sqlite.org/rescode.html).
    package struct Code: RawRepresentable, Sendable, Hashable {
        package var rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        private init(_ primary: Int32, _ extension: Int32 = 0) { rawValue = primary | `extension` << 8 }

        package static let error = Code(SQLITE_ERROR)
        package static let busy = Code(SQLITE_BUSY)
        package static let readOnly = Code(SQLITE_READONLY)
        package static let corrupt = Code(SQLITE_CORRUPT)
        package static let full = Code(SQLITE_FULL)
        package static let cannotOpen = Code(SQLITE_CANTOPEN)
        package static let constraint = Code(SQLITE_CONSTRAINT)
        package static let misuse = Code(SQLITE_MISUSE)
        package static let range = Code(SQLITE_RANGE)
        package static let notADatabase = Code(SQLITE_NOTADB)
        package static let write = Code(SQLITE_IOERR, 3)
        package static let sync = Code(SQLITE_IOERR, 4)
        package static let syncOfDirectory = Code(SQLITE_IOERR, 5)
        package static let truncate = Code(SQLITE_IOERR, 6)
        package static let delete = Code(SQLITE_IOERR, 10)
        package static let openSharedMemory = Code(SQLITE_IOERR, 18)
        package static let resizeSharedMemory = Code(SQLITE_IOERR, 19)
        package static let mapSharedMemory = Code(SQLITE_IOERR, 21)
    }

    package var extendedCode: Code
    package var message: String
    /// The statement that was executed; nil for other calls.
    package var sql: String?
    /// The system call that failed, for the errors of which SQLite logs it.
    package var cause: SystemError?

    package init(_ code: Code, _ message: String, sql: String? = nil) {
        (extendedCode, self.message, self.sql) = (code, message, sql)
    }

    /// The error of the last call on a connection.
    /// - Parameter database: nil if SQLite had no memory to open it.
    init(_ code: Int32, of database: OpaquePointer?, sql: String? = nil) {
        // Misuse leaves no message.
        let hasMessage = sqlite3_extended_errcode(database) == code
        let text = hasMessage ? sqlite3_errmsg(database) : sqlite3_errstr(code)
        self.init(Code(rawValue: code), text.map { String(cString: $0) } ?? "error \(code)", sql: sql)
        cause = SQLiteLog.cause(of: extendedCode)
    }

    /// The code without what extends it.
    package var code: Code { Code(rawValue: extendedCode.rawValue & 0xFF) }

    /// Whether the file is damaged, rather than unavailable at the moment.
    package var isCorruption: Bool {
        // A page of the schema that has rotted: the statements themselves are constant.
        let lacksPart = code == .error && (message.hasPrefix("no such ") || message.contains("has no column named"))
        return code == .corrupt || code == .notADatabase || lacksPart
    }

    package var description: String { "\(message) (SQLite error \(extendedCode.rawValue))" }
}

/// - Throws: the connection's last error, unless `code` is `SQLITE_OK`.
func check(_ code: Int32, _ database: OpaquePointer?, sql: String? = nil) throws(SQLiteError) {
    if code != SQLITE_OK { throw SQLiteError(code, of: database, sql: sql) }
}

/// The system calls that failed in SQLite. Its result codes do not say why a file cannot be opened or synced; its log does.
///
/// The process has one log. It cannot be read if the process has used SQLite before.
enum SQLiteLog {
    /// By thread.
    private static let lastErrors = Mutex<[UInt: (error: SystemError, time: ContinuousClock.Instant)]>([:])
    /// SQLite returns an error immediately after it has logged the cause, on the same thread.
    private static let maximumAge = Duration.seconds(1)

    /// Starts to read the log, once.
    static let start: Void = {
        _ = sleeve_sqlite_log { _, _, message in
            guard let message, let error = systemError(in: String(cString: message)) else { return }
            lastErrors.withLock { $0[WorkThread.current] = (error, .now) }
        }
    }()

    /// The cause of an error that SQLite has just returned; nil if SQLite does not log it.
    static func cause(of code: SQLiteError.Code) -> SystemError? {
        let logged: [SQLiteError.Code] = [
            .cannotOpen, .openSharedMemory, .resizeSharedMemory, .mapSharedMemory, .truncate, .sync, .syncOfDirectory,
            .delete,
        ]
        guard logged.contains(code), let last = lastErrors.withLock({ $0.removeValue(forKey: WorkThread.current) })
        else { return nil }
        return last.time.duration(to: .now) < maximumAge ? last.error : nil
    }

    /// Reads a line such as `os_unix.c:44080: (28) open(/a/index.sqlite3-wal) - No space left on device`.
    static func systemError(in message: String) -> SystemError? {
        guard let match = message.wholeMatch(of: /os_unix\.c:\d+: \((\d+)\) (\w+)\((.*)\) - .*/),
            let number = Int32(match.1)
        else { return nil }
        return SystemError(String(match.2), path: match.3.isEmpty ? nil : String(match.3), number: number)
    }
}

/// A damaged file is moved aside rather than removed, and a new one is started.
package enum DamagedFile {
    /// A path that no file has: the beginning, the time, and the process.
    /// - Parameters:
    ///   - beginning: With the directory.
    ///   - ending: With the dot of the extension.
    package static func newPath(_ beginning: String, _ ending: String) -> String {
        // Some file systems allow no colons in names.
        let time = Date().ISO8601Format().map { $0 == ":" ? "-" : String($0) }.joined()
        return "\(beginning)-\(time)-\(getpid())\(ending)"
    }

    /// Opens a database that can be made again. A damaged one is moved to `damaged-NAME-TIME.sqlite3` in its directory.
    /// - Parameters:
    ///   - notice: Called with the path to which it was moved.
    ///   - open: Opens the database, and creates it if it is missing.
    package static func replacing<Database: ~Copyable>(
        _ path: String, name: String, notice: (String) -> Void, _ open: (String) throws -> Database
    ) throws -> Database {
        do {
            return try open(path)
        } catch let error as SQLiteError where error.isCorruption {
            let aside = newPath(FilePath.directory(of: path) + "/damaged-\(name)", ".sqlite3")
            guard rename(path, aside) == 0 else { throw error }
            notice(aside)
            return try open(path)
        }
    }
}
