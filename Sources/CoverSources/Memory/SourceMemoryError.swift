package import SQLite

/// Why the memory of sources cannot be used.
package enum SourceMemoryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A newer version of Sleeve has written it.
    case newerVersion(path: String)
    case unusable(path: String, SQLiteError)

    package var description: String {
        switch self {
        case .newerVersion(let path): "\(path) was written by a newer version of Sleeve; use that version"
        case .unusable(let path, let error): "cannot use the memory of sources in \(path): \(error)"
        }
    }

    init(_ error: any Error, _ path: String) {
        self = error as? Self ?? .unusable(path: path, error as? SQLiteError ?? SQLiteError(.error, "\(error)"))
    }
}
