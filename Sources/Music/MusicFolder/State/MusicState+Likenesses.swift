package import CoverSizes
package import Platform
import SQLite

/// What pictures show that were compared: of covers that fills have found or written, and of those that audits have read.
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
}
