import GRDB
import GRDBSQLite

/// A statement that is stepped without building values in between, for look-ups that run 100,000 times a second. It is prepared
/// when it first runs, so that a process pays only for the statements it uses. It belongs to one connection.
final class FastStatement {
    private unowned let database: Database
    private let sql: String
    private var prepared: Statement?

    init(_ database: Database, _ sql: String) {
        self.database = database
        self.sql = sql
    }

    /// Runs a statement that returns no row.
    func run(_ values: SQLValue...) throws {
        let raw = try raw()
        bind(values, to: raw)
        defer { sqlite3_reset(raw) }
        _ = try step(raw)
    }

    /// Returns what `read` makes of the first row; nil if there is none.
    func first<Result>(_ values: SQLValue..., read: (FastRow) throws -> Result) throws -> Result? {
        let raw = try raw()
        bind(values, to: raw)
        defer { sqlite3_reset(raw) }
        return try step(raw) ? read(FastRow(raw: raw)) : nil
    }

    /// Visits every row in order.
    func each(_ values: SQLValue..., visit: (FastRow) throws -> Void) throws {
        let raw = try raw()
        bind(values, to: raw)
        defer { sqlite3_reset(raw) }
        while try step(raw) { try visit(FastRow(raw: raw)) }
    }

    /// The row that this statement inserted last.
    var lastRowID: Int64 { database.lastInsertedRowID }

    /// How many rows the statement changed last.
    var changedRows: Int { database.changesCount }

    /// Prepares the statement now. Must run on the connection's queue.
    func prepare() throws { _ = try raw() }

    private func raw() throws -> SQLiteStatement {
        if let prepared { return prepared.sqliteStatement }
        let statement = try database.makeStatement(sql: sql)
        prepared = statement
        return statement.sqliteStatement
    }

    private func step(_ raw: SQLiteStatement) throws -> Bool {
        switch sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(sqlite3_db_handle(raw)))
            )
        }
    }

    private func bind(_ values: [SQLValue], to raw: SQLiteStatement) {
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .null: sqlite3_bind_null(raw, position)
            case .int(let number): sqlite3_bind_int64(raw, position, number)
            case .text(var text):
                text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        _ = sqlite3_bind_text(raw, position, $0.baseAddress, Int32($0.count), copy)
                    }
                }
            case .digest(let digest):
                digest.withUnsafeBytes { _ = sqlite3_bind_blob(raw, position, $0.baseAddress, Int32($0.count), copy) }
            }
        }
    }
}

enum SQLValue {
    case null
    case int(Int64)
    case text(String)
    case digest(Digest)

    static func int(_ value: Int) -> SQLValue { .int(Int64(value)) }
    static func int(_ value: Int?) -> SQLValue { value.map { .int(Int64($0)) } ?? .null }
    static func int(_ value: Int64?) -> SQLValue { value.map { .int($0) } ?? .null }
}

/// The current row of a statement; valid until the next step.
struct FastRow {
    fileprivate let raw: SQLiteStatement

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }
    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(raw, column)) }
    /// A length, an offset or a counter: 0 to 2⁴⁸.
    /// - Throws: SQLite's error for a corrupt database if it is out of that range. Arithmetic with it would trap.
    func size(_ column: Int32) throws -> Int { try Self.size(int64(column)) }
    func optionalSize(_ column: Int32) throws -> Int? { try optionalInt64(column).map { try Self.size($0) } }
    static func size(_ number: Int64) throws -> Int {
        guard (0...1 << 48).contains(number) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the number \(number) is out of range")
        }
        return Int(number)
    }
    /// Milliseconds since 1970, cut to the years until 10889.
    func time(_ column: Int32) -> Int64 { min(max(int64(column), 0), 1 << 48) }
    func optionalTime(_ column: Int32) -> Int64? { optionalInt64(column) == nil ? nil : time(column) }
    func optionalInt64(_ column: Int32) -> Int64? {
        sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, column)
    }
    func optionalInt(_ column: Int32) -> Int? { optionalInt64(column).map { Int($0) } }
    func text(_ column: Int32) -> String { optionalText(column) ?? "" }
    func optionalText(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(raw, column) else { return nil }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(raw, column)))
        return String(decoding: bytes, as: UTF8.self)
    }
    func digest(_ column: Int32) -> Digest? {
        Digest(
            bytes: UnsafeRawBufferPointer(
                start: sqlite3_column_blob(raw, column), count: Int(sqlite3_column_bytes(raw, column))))
    }
}
