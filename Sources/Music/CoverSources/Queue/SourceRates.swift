import Platform
import SQLite

/// The requests that were sent to services within their rates: a small database of the user's, as services count what comes from an address,
/// whichever library it is for.
package actor SourceRates {
    private nonisolated let thread = ThreadExecutor()
    private let path: String
    private let database: Connection

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens the database, and creates it if it is missing.
    /// - Throws: `SourceMemoryError`.
    package init(path: String) throws(SourceMemoryError) {
        self.path = path
        database = try SourceMemoryError.opening(path, name: "requests", notice: { _ in }) { path in
            let database = try Connection(path, busyTimeout: .seconds(15), mustSync: false)
            try database.execute(
                """
                PRAGMA synchronous = NORMAL;
                CREATE TABLE IF NOT EXISTS requests (service TEXT NOT NULL, time INTEGER NOT NULL);
                """)
            return database
        }
    }

    deinit { thread.shutdown() }

    /// Notes a request that is about to be sent, unless the rate forbids it, also counting those of other processes and of earlier runs.
    /// - Parameters:
    ///   - service: its address.
    ///   - now: milliseconds since 1970.
    /// - Returns: How long to wait before another try; nil if the request may be sent now.
    func reserve(_ service: String, _ rate: RateRule, at now: Int64) throws(SourceMemoryError) -> Duration? {
        let interval = Int64((rate.interval / .milliseconds(1)).rounded(.up))
        return try SourceMemoryError.wrapping(path) {
            try database.transaction(.immediate) { () -> Duration? in
                // Times ahead of now are those of a wrong clock; no interval is longer than an hour.
                try database.statement("DELETE FROM requests WHERE time <= ? OR time > ?")
                    .run(.int(now - 3_600_000), .int(now))
                let oldest = try database.statement(
                    "SELECT time FROM requests WHERE service = ? AND time > ? ORDER BY time DESC LIMIT 1 OFFSET ?"
                ).first(.text(service), .int(now - interval), .int(rate.requests - 1)) { $0.int64(0) }
                if let oldest { return .milliseconds(max(1, oldest + interval - now)) }
                try database.statement("INSERT INTO requests VALUES (?, ?)").run(.text(service), .int(now))
                return nil
            }
        }
    }
}
