import CSQLite

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
