import Files
import Platform
import SQLite

/// The music folders that were scanned for the library.
extension MusicState {
    /// `mounts` has the file systems that were mounted in the folders when they were scanned.
    static let rootsSchema = """
        CREATE TABLE IF NOT EXISTS roots (path BLOB PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS mounts (path BLOB PRIMARY KEY) WITHOUT ROWID;
        """

    /// The folders that no other one of them contains, in the order of their paths.
    package func roots() throws(Problem) -> [BytePath] {
        try reading {
            var roots: [BytePath] = []
            // A folder comes before what it contains, though not always directly before.
            try database.statement("SELECT path FROM roots ORDER BY path").each { row in
                let path = BytePath(bytes: row.bytes(0))
                if !path.bytes.isEmpty, !roots.contains(where: { path.isInside($0) }) { roots.append(path) }
            }
            return roots
        }
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

    /// The places where a missing folder may be that is not gone: its disk may not be mounted.
    struct Away {
        /// Scanned folders that are missing or empty, and places where file systems were mounted.
        fileprivate(set) var folders: [BytePath] = []

        func contains(_ folder: BytePath) -> Bool { folders.contains { folder.isInside($0) } }
    }

    func away() throws(Problem) -> Away {
        let missing = try roots().filter { (try? OpenFolder(path: $0.bytes).names().isEmpty) ?? true }
        let mounted = Set(MountPoints.all())
        return try reading {
            var away = Away(folders: missing)
            try database.statement("SELECT path FROM mounts").each { row in
                let path = BytePath(bytes: row.bytes(0))
                if !mounted.contains(path) { away.folders.append(path) }
            }
            return away
        }
    }

    func isAway(_ folder: BytePath) throws(Problem) -> Bool { try away().contains(folder) }

    func add(roots: [BytePath]) throws(Problem) {
        let mounts = MountPoints.all().filter { mount in roots.contains { mount != $0 && mount.isInside($0) } }
        try transaction {
            for (table, paths) in [("roots", roots), ("mounts", mounts)] {
                for path in paths {
                    try database.statement("INSERT OR IGNORE INTO \(table) (path) VALUES (?)").run(.blob(path.bytes))
                }
            }
        }
        try findRows(below: roots)
    }
}

/// The folders on which file systems are mounted.
enum MountPoints {
    /// Empty where the system has no list of them.
    static func all() -> [BytePath] {
        // proc(5): the fifth field, in which blanks and backslashes are octal.
        let lines = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
        return lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            return fields.count > 5 ? BytePath(bytes: unescaped(fields[4])) : nil
        }
    }

    private static func unescaped(_ text: some Sequence<UInt8>) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Array(text)[...])
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest.removeFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
