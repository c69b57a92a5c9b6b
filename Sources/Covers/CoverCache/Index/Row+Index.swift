import SQLite

// The values of the index: read with their ranges, because another program or a failing disk may have changed them.
extension Row {
    /// A length, an offset or a counter: 0 to 2⁴⁸.
    /// - Throws: SQLite's error for a corrupt database if it is out of that range. Arithmetic with it would trap.
    borrowing func size(_ column: Int32) throws(SQLiteError) -> Int { try Self.size(int64(column)) }
    /// - Throws: the same error for a value that is no integer.
    borrowing func counter(_ column: Int32) throws(SQLiteError) -> Int {
        guard let number = optionalInt64(column) else { throw SQLiteError(.corrupt, "a counter is no number") }
        return try Self.size(number)
    }
    private static func size(_ number: Int64) throws(SQLiteError) -> Int {
        guard (0...1 << 48).contains(number) else {
            throw SQLiteError(.corrupt, "the number \(number) is out of range")
        }
        return Int(number)
    }
    /// Milliseconds since 1970, cut to the years until 10889.
    borrowing func time(_ column: Int32) -> Int64 { min(max(int64(column), 0), 1 << 48) }
    borrowing func optionalTime(_ column: Int32) -> Int64? { optionalInt64(column).map { min(max($0, 0), 1 << 48) } }
}
