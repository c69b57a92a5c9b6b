import Platform
import SQLite

/// Why the memory of sources cannot be used.
package struct SourceMemoryError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    static func newerVersion(path: String) -> Self {
        Self(description: "\(path) was written by a newer version of Sleeve; use that version")
    }

    /// What is done with a database; any error is one of these.
    static func wrapping<Result: ~Copyable>(
        _ path: String, _ act: () throws -> Result
    ) throws(SourceMemoryError) -> Result {
        do {
            return try act()
        } catch {
            throw error as? Self ?? Self(description: "cannot use the memory of sources in \(path): \(error)")
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
