import CSQLite
package import Platform

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

/// The current row of a statement. It cannot leave the closure that visits it. Columns are numbered from 0.
package struct Row: ~Copyable {
    // Look-ups read 18 columns 100,000 times a second: this type is inlined into other rooms.
    @usableFromInline let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    /// The integer as SQLite converts the value: 0 for NULL and for text that is no number.
    @inlinable package borrowing func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }
    @inlinable package borrowing func int(_ column: Int32) -> Int { Int(int64(column)) }

    /// The integer; nil if the value is none.
    @inlinable package borrowing func optionalInt64(_ column: Int32) -> Int64? {
        sqlite3_column_type(raw, column) == SQLITE_INTEGER ? int64(column) : nil
    }
    @inlinable package borrowing func optionalInt(_ column: Int32) -> Int? { optionalInt64(column).map { Int($0) } }

    /// The text; `""` for NULL. Malformed UTF-8 is repaired.
    @inlinable package borrowing func text(_ column: Int32) -> String { optionalText(column) ?? "" }
    @inlinable package borrowing func optionalText(_ column: Int32) -> String? {
        withBytes(column) { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The bytes of a text or a blob; empty for NULL.
    package borrowing func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { $0.map { Array($0) } ?? [] } }

    /// Calls `body` with the bytes of a text or a blob; nil for NULL.
    @inlinable package borrowing func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        // First the bytes, which may convert the value, then their count.
        if let start = sqlite3_column_blob(raw, column) {
            return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
        }
        let isNull = sqlite3_column_type(raw, column) == SQLITE_NULL
        return try body(isNull ? nil : UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

/// A value of a statement's parameter.
package enum SQLValue: Sendable, Hashable {
    case null
    case int(Int64)
    case text(String)
    case blob([UInt8])

    package static func int(_ value: Int) -> SQLValue { .int(Int64(value)) }
    package static func int(_ value: Int?) -> SQLValue { value.map { .int(Int64($0)) } ?? .null }
    package static func int(_ value: Int64?) -> SQLValue { value.map { .int($0) } ?? .null }

    /// Returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .int(let number): sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            text.withUTF8 { sleeve_sqlite_bind_text(statement, index, $0.baseAddress, UInt64($0.count)) }
        case .blob(let bytes): sleeve_sqlite_bind_blob(statement, index, bytes, UInt64(bytes.count))
        }
    }
}

extension Row {
    /// The digest in a blob; nil if the value is none.
    package borrowing func digest(_ column: Int32) -> Digest? {
        withBytes(column) { $0.flatMap { Digest(bytes: $0) } }
    }
}

extension SQLValue {
    /// The digest as a blob.
    package static func digest(_ digest: Digest) -> SQLValue { .blob(digest.withUnsafeBytes { Array($0) }) }
}
