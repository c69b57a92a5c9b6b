import CSQLite

/// A statement of one connection, whose parameters get other values each time it runs.
package final class Statement {
    package let sql: String
    private let database: OpaquePointer
    private var prepared: OpaquePointer?
    private var parameterCount = 0
    private var isRunning = false
    private var isClosed = false

    init(_ sql: String, _ database: OpaquePointer) { (self.sql, self.database) = (sql, database) }

    /// Runs the statement to its end. Rows are ignored.
    /// - Returns: how many rows an INSERT, UPDATE or DELETE has changed.
    @discardableResult
    package func run(_ values: SQLValue...) throws(SQLiteError) -> Int { try run(values) }

    @discardableResult
    package func run(_ values: [SQLValue]) throws(SQLiteError) -> Int {
        let raw = try bind(values)
        defer { reset(raw) }
        while try step(raw) {}
        return Int(sqlite3_changes64(database))
    }

    /// Returns what `read` makes of the first row; nil if there is none.
    package func first<Result>(_ values: SQLValue..., read: (borrowing Row) throws -> Result) throws -> Result? {
        let raw = try bind(values)
        defer { reset(raw) }
        return try step(raw) ? read(Row(raw)) : nil
    }

    /// Visits every row in order.
    package func each(_ values: SQLValue..., visit: (borrowing Row) throws -> Void) throws {
        let raw = try bind(values)
        defer { reset(raw) }
        while try step(raw) { try visit(Row(raw)) }
    }

    /// The row that the connection's last INSERT has added.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }

    // MARK: Steps

    /// Gives the parameters their values. `reset` must follow.
    private func bind(_ values: [SQLValue]) throws(SQLiteError) -> OpaquePointer {
        let raw = try ready()
        do throws(SQLiteError) {
            guard values.count == parameterCount else {
                throw SQLiteError(.range, "\(values.count) values for \(parameterCount) parameters", sql: sql)
            }
            for (index, value) in values.enumerated() {
                try check(value.bind(to: raw, at: Int32(index + 1)), database, sql: sql)
            }
        } catch {
            reset(raw)
            throw error
        }
        return raw
    }

    private func step(_ raw: OpaquePointer) throws(SQLiteError) -> Bool {
        switch sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw SQLiteError(code, of: database, sql: sql)
        }
    }

    /// Ends a run. What it returns is the error that `step` has thrown already.
    private func reset(_ raw: OpaquePointer) {
        sqlite3_reset(raw)
        if raw == prepared { isRunning = false } else { sqlite3_finalize(raw) }
    }

    /// The prepared statement. While it runs, another one of the same text, which runs once.
    private func ready() throws(SQLiteError) -> OpaquePointer {
        if let prepared, !isRunning {
            isRunning = true
            return prepared
        }
        if isClosed { throw SQLiteError(.misuse, "the connection is closed", sql: sql) }
        var raw: OpaquePointer?
        let (code, isOne) = sql.withCString { text in
            var end: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &raw, &end)
            return (code, end?.pointee == 0)
        }
        try check(code, database, sql: sql)
        guard let raw, isOne else {
            sqlite3_finalize(raw)
            throw SQLiteError(.misuse, "it is not one statement", sql: sql)
        }
        if prepared == nil {
            (prepared, isRunning) = (raw, true)
            parameterCount = Int(sqlite3_bind_parameter_count(raw))
        }
        return raw
    }

    /// The connection ends.
    func close() {
        sqlite3_finalize(prepared)
        (prepared, isClosed) = (nil, true)
    }
}
