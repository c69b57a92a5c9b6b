package import CoverSizes
import Files
package import Platform
import SQLite

/// What fills have written, and what pictures show that were compared: of covers that fills have found or written, and of those that audits have
/// read.
extension MusicState {
    static let likenessesSchema = """
        CREATE TABLE IF NOT EXISTS likenesses (digest BLOB PRIMARY KEY, version INTEGER NOT NULL, likeness BLOB NOT NULL)
            WITHOUT ROWID;
        """

    /// Those that are known. Those of earlier versions are made again.
    package func likenesses() throws(Problem) -> [Digest: Likeness] {
        try reading {
            var likenesses: [Digest: Likeness] = [:]
            try database.statement("SELECT digest, likeness FROM likenesses WHERE version = ?")
                .each(.int(Likeness.version)) { row in
                    if let digest = row.digest(0), let likeness = Likeness(stored: row.bytes(1)) {
                        likenesses[digest] = likeness
                    }
                }
            return likenesses
        }
    }

    package func save(_ likenesses: [Digest: Likeness]) throws(Problem) {
        if likenesses.isEmpty { return }
        try transaction {
            for (digest, likeness) in likenesses {
                try database.statement("INSERT OR REPLACE INTO likenesses VALUES (?, ?, ?)")
                    .run(.digest(digest), .int(Likeness.version), .blob(likeness.stored))
            }
        }
    }

    /// What fills have written.
    func sleevesPictures() throws(Problem) -> SleevesPictures {
        var found = SleevesPictures()
        let albums = try filled()
        found.isFile = { albums($0) != nil }
        found.inTags = Set(try written(.tags).filter { $0.state == .there }.map(\.digest.description))
        return found
    }

    /// The id of the album for which a fill has written a file, which is unchanged since.
    func filled() throws(Problem) -> @Sendable (BytePath) -> String? {
        let files = Dictionary(try written().map { ($0.path, $0) }) { $1 }
        return { path in files[path].flatMap { $0.isUnchanged ? $0.album : nil } }
    }

    /// The cover of an album in a folder as it is now.
    /// - Throws: `SystemError`.
    func cover(_ titles: Set<String>, in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        try CoverChoice(titles) { file in
            (try? self.written(in: path))?.last { $0.path == file }?.isUnchanged == true
        }.cover(in: folder, at: path)
    }
}
