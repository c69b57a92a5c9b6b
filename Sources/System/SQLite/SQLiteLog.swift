import CSQLite
import Platform
import Synchronization

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
