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
        try reading {
            let decoder = JSONDecoder()
            var folders: [BytePath: Folder] = [:]
            try database.statement("SELECT path, fingerprint, contents FROM folders").each { row in
                let path = BytePath(bytes: row.bytes(0))
                guard roots.contains(where: { path.isInside($0) }) else { return }
                let contents = row.withBytes(2) { bytes in
                    try? decoder.decode(FolderContents.self, from: Data(bytes ?? .init(start: nil, count: 0)))
                }
                if let contents { folders[path] = Folder(fingerprint: row.int64(1), contents: contents) }
            }
            return folders
        }
    }

    func save(_ folders: [(path: BytePath, folder: Folder)]) throws(Problem) {
        if folders.isEmpty { return }
        try transaction {
            let encoder = JSONEncoder()
            for (path, folder) in folders {
                let contents = String(decoding: try encoder.encode(folder.contents), as: UTF8.self)
                try database.statement("INSERT OR REPLACE INTO folders (path, fingerprint, contents) VALUES (?, ?, ?)")
                    .run(.blob(path.bytes), .int(folder.contents.isTransient ? 0 : folder.fingerprint), .text(contents))
            }
        }
    }

    func removeFolders(_ paths: [BytePath]) throws(Problem) {
        if paths.isEmpty { return }
        try transaction {
            for path in paths { try database.statement("DELETE FROM folders WHERE path = ?").run(.blob(path.bytes)) }
        }
    }
}
