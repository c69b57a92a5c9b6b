import Files
import Platform
import SQLite

/// The folders that a scan has read, so that it reads them again only after a change.
extension MusicState {
    static let foldersSchema = """
        CREATE TABLE IF NOT EXISTS folders (
            path BLOB PRIMARY KEY, fingerprint INTEGER NOT NULL, contents TEXT NOT NULL) WITHOUT ROWID;
        """

    /// What is remembered of a folder.
    struct Folder {
        /// As in `FolderListing`; 0 for a folder that must be read again.
        var fingerprint: Int64
        var contents: FolderContents
    }

    /// The folders that are one of `roots` or below. Those whose contents cannot be decoded are left out.
    func folders(in roots: [BytePath]) throws(Problem) -> [BytePath: Folder] {
        let found: [(BytePath, Folder)] = try all("SELECT path, fingerprint, contents FROM folders") { row in
            let path = BytePath(bytes: row.bytes(0))
            guard path.isInside(any: roots), let contents: FolderContents = row.json(2) else { return nil }
            return (path, Folder(fingerprint: row.int64(1), contents: contents))
        }
        return Dictionary(found) { $1 }
    }

    func save(_ folders: [(path: BytePath, folder: Folder)]) throws(Problem) {
        try run("INSERT OR REPLACE INTO folders (path, fingerprint, contents) VALUES (?, ?, ?)", for: folders) {
            path, folder in
            let fingerprint = folder.contents.isTransient ? 0 : folder.fingerprint
            return [.blob(path.bytes), .int(fingerprint), try .json(folder.contents)]
        }
    }

    func removeFolders(_ paths: [BytePath]) throws(Problem) {
        try run("DELETE FROM folders WHERE path = ?", for: paths) { [.blob($0.bytes)] }
    }
}

/// The music folders that were scanned for the library.
extension MusicState {
    /// `mounts` has the file systems that were mounted in the folders when they were scanned.
    static let rootsSchema = """
        CREATE TABLE IF NOT EXISTS roots (path BLOB PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS mounts (path BLOB PRIMARY KEY) WITHOUT ROWID;
        """

    /// The folders that no other one of them contains, in the order of their paths.
    package func roots() throws(Problem) -> [BytePath] {
        // A folder comes before what it contains, though not always directly before.
        let paths = try all("SELECT path FROM roots ORDER BY path") { $0.path(0) }
        return paths.reduce(into: []) { roots, path in if !path.isInside(any: roots) { roots.append(path) } }
    }

    /// Forgets folders that do not exist.
    func removeMissingRoots() throws(Problem) {
        let missing = try roots().filter { $0.resolved == nil && [ENOENT, ENOTDIR].contains(errno) }
        try run("DELETE FROM roots WHERE path = ?", for: missing) { [.blob($0.bytes)] }
    }

    /// Why what was written into a folder that is away is not taken back.
    package static let awayReason = "its folder is not there; its disk may not be mounted"

    /// The places where a missing folder may be that is not gone, as its disk may not be mounted: scanned folders that are missing or empty, and
    /// places where file systems were mounted.
    func away() throws(Problem) -> [BytePath] {
        let missing = try roots().filter { (try? OpenFolder(path: $0.bytes).names().isEmpty) ?? true }
        let mounted = Set(MountPoints.all())
        let mounts = try all("SELECT path FROM mounts") { $0.path(0) }
        return missing + mounts.filter { !mounted.contains($0) }
    }

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
