import Files
import Platform
import SQLite

/// The music folders that were scanned for the library.
extension MusicState {
    static let rootsSchema = "CREATE TABLE IF NOT EXISTS roots (path BLOB PRIMARY KEY) WITHOUT ROWID;"

    /// The folders that no other one of them contains, in the order of their paths.
    package func roots() throws(Problem) -> [BytePath] { try reading { try Self.roots(in: database) } }

    /// Those of a library whose state another process may have; none if it has no state, or an unreadable one.
    package static func roots(of library: String) -> [BytePath] {
        guard let database = try? Connection(path(of: library), .reading) else { return [] }
        return (try? roots(in: database)) ?? []
    }

    private static func roots(in database: borrowing Connection) throws -> [BytePath] {
        var roots: [BytePath] = []
        // A folder comes before what it contains, though not always directly before.
        try database.statement("SELECT path FROM roots ORDER BY path").each { row in
            let path = BytePath(bytes: row.bytes(0))
            if !path.bytes.isEmpty, !roots.contains(where: { path.isInside($0) }) { roots.append(path) }
        }
        return roots
    }

    /// Forgets folders that do not exist.
    func removeMissingRoots() throws(Problem) {
        let missing = try roots().filter { $0.resolved == nil && [ENOENT, ENOTDIR].contains(errno) }
        try transaction {
            for root in missing { try database.statement("DELETE FROM roots WHERE path = ?").run(.blob(root.bytes)) }
        }
    }

    /// Why what was written into a folder that is away is not taken back.
    package static let awayReason = "its folder is not there; its disk may not be mounted"

    /// Whether the scanned folder that contains a missing folder is missing or empty, too: its disk may not be mounted.
    func isAway(_ folder: BytePath) throws(Problem) -> Bool {
        try roots().contains { root in
            folder.isInside(root) && (try? OpenFolder(path: root.bytes).names().isEmpty) ?? true
        }
    }

    func add(roots: [BytePath]) throws(Problem) {
        try transaction {
            for root in roots {
                try database.statement("INSERT OR IGNORE INTO roots (path) VALUES (?)").run(.blob(root.bytes))
            }
        }
        try follow(roots)
    }
}
