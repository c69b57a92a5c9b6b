import CSQLite
import GRDB
import Platform
import Synchronization

/// The system calls that failed in SQLite. Its result codes do not say why a file cannot be opened or synced; its log does.
///
/// The process has one log. It cannot be read if the process has used SQLite before.
enum SQLiteLog {
    private static let lastError = Mutex<(error: SystemError, time: ContinuousClock.Instant)?>(nil)
    /// SQLite returns an error at once after it has logged the cause.
    private static let maximumAge = Duration.seconds(1)

    /// Starts to read the log, once.
    static let start: Void = {
        _ = sleeve_sqlite_log { _, _, message in
            guard let message, let error = systemError(in: String(cString: message)) else { return }
            lastError.withLock { $0 = (error, .now) }
        }
    }()

    /// The cause of an error that SQLite has just returned; nil if SQLite does not log it.
    static func cause(of error: DatabaseError) -> SystemError? {
        let logged: [ResultCode] = [
            .SQLITE_CANTOPEN, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP,
            .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_DELETE,
        ]
        guard logged.contains(error.extendedResultCode), let last = lastError.withLock({ $0 }) else { return nil }
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
