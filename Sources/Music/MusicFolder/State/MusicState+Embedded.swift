import Platform
import SQLite

/// The covers that fills have written into tags: only these may be removed.
extension MusicState {
    static let embeddedSchema = """
        CREATE TABLE IF NOT EXISTS embedded (
            folder BLOB NOT NULL, name BLOB NOT NULL, picture BLOB NOT NULL, audio BLOB NOT NULL, growth INTEGER NOT NULL,
            run INTEGER NOT NULL, root BLOB, disk TEXT, PRIMARY KEY (folder, name)) WITHOUT ROWID;
        """

    /// The covers in tags of a fill.
    package func embeddedCovers(ofRun run: Int64) throws(Problem) -> [EmbeddedCover] {
        try covers("WHERE run = \(run)")
    }

    package func embeddedCovers() throws(Problem) -> [EmbeddedCover] { try covers("") }

    private func covers(_ condition: String) throws(Problem) -> [EmbeddedCover] {
        try reading {
            var covers: [EmbeddedCover] = []
            try database.statement(
                """
                SELECT folder, name, picture, audio, growth, run, root, disk FROM embedded \(condition)
                ORDER BY folder, name
                """
            ).each { row in
                let (folder, name) = (row.bytes(0), row.bytes(1))
                guard let picture = row.digest(2), let audio = row.digest(3), !folder.isEmpty, !name.isEmpty else {
                    return
                }
                covers.append(
                    EmbeddedCover(
                        folder: BytePath(bytes: folder), name: name, picture: picture, audio: audio, growth: row.int(4),
                        run: row.int64(5), root: row.path(6), disk: row.optionalText(7)))
            }
            return covers
        }
    }

    /// The digests of all pictures that fills have written into tags.
    package func embeddedPictures() throws(Problem) -> Set<String> {
        try reading {
            var pictures: Set<String> = []
            try database.statement("SELECT DISTINCT picture FROM embedded").each { row in
                if let digest = row.digest(0) { pictures.insert(digest.description) }
            }
            return pictures
        }
    }

    /// Remembers a cover. Call it before the file is replaced: a killed fill then leaves none that is not remembered.
    func save(_ cover: EmbeddedCover) throws(Problem) {
        try transaction {
            try database.statement(
                """
                INSERT OR REPLACE INTO embedded (folder, name, picture, audio, growth, run, root, disk)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            ).run(
                .blob(cover.folder.bytes), .blob(cover.name), .digest(cover.picture), .digest(cover.audio),
                .int(cover.growth), .int(cover.run), .path(cover.root), .optional(cover.disk))
        }
    }

    /// Remembers a cover at another path.
    func move(_ cover: EmbeddedCover, to folder: BytePath) throws(Problem) {
        var moved = cover
        (moved.folder, moved.root) = (folder, try root(of: folder))
        try forget(cover)
        try save(moved)
    }

    func forget(_ cover: EmbeddedCover) throws(Problem) {
        try transaction {
            try database.statement("DELETE FROM embedded WHERE folder = ? AND name = ?").run(
                .blob(cover.folder.bytes), .blob(cover.name))
        }
    }
}
