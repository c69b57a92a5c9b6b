import Platform

/// A damaged file is moved aside rather than removed, and a new one is started.
package enum DamagedFile {
    /// A path that no file has: the beginning, the time, and the process.
    /// - Parameters:
    ///   - beginning: With the directory.
    ///   - ending: With the dot of the extension.
    package static func newPath(_ beginning: String, _ ending: String) -> String {
        // Some file systems allow no colons in names.
        let time = Date().ISO8601Format().map { $0 == ":" ? "-" : String($0) }.joined()
        return "\(beginning)-\(time)-\(getpid())\(ending)"
    }

    /// Opens a database that can be made again. A damaged one is moved to `damaged-NAME-TIME.sqlite3` in its directory.
    /// - Parameters:
    ///   - notice: Called with the path to which it was moved.
    ///   - open: Opens the database, and creates it if it is missing.
    package static func replacing<Database: ~Copyable>(
        _ path: String, name: String, notice: (String) -> Void, _ open: (String) throws -> Database
    ) throws -> Database {
        do {
            return try open(path)
        } catch let error as SQLiteError where error.isCorruption {
            let aside = newPath(FilePath.directory(of: path) + "/damaged-\(name)", ".sqlite3")
            guard rename(path, aside) == 0 else { throw error }
            notice(aside)
            return try open(path)
        }
    }
}
