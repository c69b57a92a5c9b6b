import Platform
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

    /// What is done with a database; any error is one of these.
    static func wrapping<Result: ~Copyable>(
        _ path: String, _ act: () throws -> Result
    ) throws(SourceMemoryError) -> Result {
        do {
            return try act()
        } catch {
            throw error as? Self ?? .unusable(path: path, error as? SQLiteError ?? SQLiteError(.error, "\(error)"))
        }
    }

    /// Opens a database of the user's, and creates it and its folder if they are missing. A damaged one is moved aside.
    static func opening<Database: ~Copyable>(
        _ path: String, name: String, notice: (String) -> Void, _ open: (String) throws -> Database
    ) throws(SourceMemoryError) -> Database {
        try? OwnedPath.makeFolders(FilePath.directory(of: path))
        return try wrapping(path) { try DamagedFile.replacing(path, name: name, notice: notice, open) }
    }
}
