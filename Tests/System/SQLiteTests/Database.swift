import Foundation
import Testing

@testable import SQLite

/// Calls `body` with the path of a database file that does not exist yet. Its directory is removed afterwards.
func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/test.sqlite3")
}

/// Calls `body` with a new database that has a table `t` of two columns, of which the first is the primary key.
func withTable(_ body: (borrowing Connection) throws -> Void) throws {
    try withFile { path in
        let connection = try Connection(path)
        try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, value)")
        try body(connection)
    }
}

/// Expects a number of rows in `t`.
func expectRows(
    _ count: Int64, _ connection: borrowing Connection, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let found = try connection.integer("SELECT COUNT(*) FROM t")
    #expect(found == count, sourceLocation: sourceLocation)
}

/// The error that `body` throws; nil if it throws none, or another one.
func sqliteError(_ body: () throws -> Void) -> SQLiteError? {
    do {
        try body()
        return nil
    } catch {
        return error as? SQLiteError
    }
}
