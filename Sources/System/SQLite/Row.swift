import CSQLite

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
