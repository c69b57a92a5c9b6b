package import CoverSources
import Files
package import Platform
import SQLite

/// What fills have written: only these files and pictures in tags may be replaced or removed.
///
/// Rows are a chain: each has the number of the one that it replaced. A row is `begun` before its file gets its name, and `there` after, so that
/// a killed fill leaves nothing that is not known.
extension MusicState {
    static let writtenSchema = """
        CREATE TABLE IF NOT EXISTS written (
            number INTEGER PRIMARY KEY, kind TEXT NOT NULL, folder BLOB NOT NULL, name BLOB NOT NULL, digest BLOB NOT NULL,
            width INTEGER, height INTEGER, album TEXT NOT NULL, run INTEGER NOT NULL, state TEXT NOT NULL, replaced INTEGER,
            url TEXT, noted INTEGER NOT NULL, modified INTEGER, time INTEGER NOT NULL, root BLOB, disk TEXT,
            audio BLOB, growth INTEGER, song BLOB, length INTEGER, facts TEXT);
        CREATE INDEX IF NOT EXISTS written_album ON written(album);
        CREATE INDEX IF NOT EXISTS written_folder ON written(folder);
        CREATE INDEX IF NOT EXISTS written_run ON written(run);
        CREATE INDEX IF NOT EXISTS written_replaced ON written(replaced) WHERE replaced IS NOT NULL;
        CREATE TABLE IF NOT EXISTS undone_runs (run INTEGER PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS pictures (digest BLOB PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
        """
    /// Rows that are not undone and that none replaced.
    private static let isCurrent = """
        state IN ('there', 'removed') AND NOT EXISTS (
            SELECT 1 FROM written AS newer WHERE newer.replaced = written.number AND newer.state IN ('there', 'removed', 'allowed'))
        """

    // MARK: Reading

    /// What is in its place now as far as is known, and what a person has removed from there.
    package func written(_ kind: Written.Kind = .file) throws(Problem) -> [Written] {
        try written("WHERE kind = '\(kind.rawValue)' AND \(Self.isCurrent) ORDER BY folder, name, number")
    }

    package func written(_ kind: Written.Kind = .file, of album: String) throws(Problem) -> [Written] {
        try written(
            "WHERE kind = '\(kind.rawValue)' AND album = ? AND \(Self.isCurrent) ORDER BY folder, name, number",
            .text(album))
    }

    /// What fills have written.
    func sleevesPictures() throws(Problem) -> SleevesPictures {
        var found = SleevesPictures()
        let albums = try filled()
        found.isFile = { albums($0) != nil }
        found.inTags = Set(try written(.tags).filter { $0.state == .there }.map(\.digest))
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

    /// The cover files of a folder.
    func written(in folder: BytePath) throws(Problem) -> [Written] {
        try written(
            "WHERE kind = 'file' AND folder = ? AND \(Self.isCurrent) ORDER BY name, number", .blob(folder.bytes))
    }

    /// The cover files of folders.
    package func written(in folders: [BytePath]) throws(Problem) -> [Written] {
        var found: [Written] = []
        for folder in Set(folders).sorted() { found += try written(in: folder) }
        return found
    }

    /// Of songs that are not where they were, the rows with a picture.
    func strays(with picture: Digest) throws(Problem) -> [Written] {
        let rows = try written(
            "WHERE kind = 'tags' AND digest = ? AND \(Self.isCurrent) ORDER BY folder, name, number", .digest(picture))
        return rows.filter { $0.state == .there && !$0.isThere }
    }

    /// What a person has removed, as the last scan has noted it, and the covers that are gone by now.
    package func removed() throws(Problem) -> [Written] {
        try (written(.file) + written(.tags)).filter { row in
            row.state == .removed || row.kind == .file && !row.isThere && row.folder.device != nil
        }
    }

    /// All rows of a folder, the newest first.
    func history(of folder: BytePath) throws(Problem) -> [Written] {
        try written("WHERE folder = ? ORDER BY number DESC", .blob(folder.bytes))
    }

    /// Those whose process ended before their files had their names, or were removed.
    func begun() throws(Problem) -> [Written] {
        try written("WHERE state IN ('begun', 'leaving') ORDER BY number")
    }

    /// What was taken back, or removed and allowed.
    func undone() throws(Problem) -> [Written] {
        try written("WHERE state IN ('undone', 'allowed') ORDER BY number")
    }

    func written(number: Int64) throws(Problem) -> Written? {
        try written("WHERE number = ?", .int(number)).first
    }

    /// The cover files beside the music of albums, by their ids: of each the latest one, unless it has changed since, or something else took its
    /// place.
    package func writtenFiles(of albums: Set<String>) throws(Problem) -> [String: BytePath] {
        var files: [String: BytePath] = [:]
        for album in albums {
            let file = try written(
                "WHERE album = ? AND kind = 'file' AND \(Self.isCurrent) ORDER BY number DESC LIMIT 1", .text(album)
            ).first
            if let file, file.state != .removed, file.isUnchanged { files[album] = file.path }
        }
        return files
    }

    /// The rows that undo takes back, the newest first: those that earlier undos could not take back, or those of a fill.
    func written(ofRun run: Int64?) throws(Problem) -> [Written] {
        if let run {
            return try written("WHERE state IN ('there', 'removed') AND run = ? ORDER BY number DESC", .int(run))
        }
        return try written("WHERE state = 'there' AND run IN (SELECT run FROM undone_runs) ORDER BY number DESC")
    }

    /// The cover files of a fill that were taken back, also by an undo that was killed before the library knew of it.
    package func undoneFiles(ofRun run: Int64) throws(Problem) -> [Written] {
        try written("WHERE kind = 'file' AND state = 'undone' AND run = ?", .int(run))
    }

    /// A fill was taken back, as far as it could be.
    func setUndone(run: Int64) throws(Problem) {
        try transaction { try database.statement("INSERT OR IGNORE INTO undone_runs VALUES (?)").run(.int(run)) }
    }

    /// The row that has replaced a row, and is in its place; nil if there is none.
    func newer(than row: Written) throws(Problem) -> Written? {
        try written("WHERE replaced = ? AND state IN ('there', 'leaving')", .int(row.number)).first
    }

    /// The digests of all pictures that fills have written into tags.
    package func embeddedPictures() throws(Problem) -> Set<Digest> {
        Set(try all("SELECT DISTINCT digest FROM written WHERE kind = 'tags'") { $0.digest(0) })
    }

    /// The digests of what rows have replaced that are not undone.
    func replacedDigests() throws(Problem) -> Set<String> {
        let replaced = try written(
            "WHERE number IN (SELECT replaced FROM written WHERE replaced IS NOT NULL AND state != 'undone')")
        return Set(replaced.map { "\($0.digest)" })
    }

    /// The fills that were not taken back, the last one first.
    package func runs() throws(Problem) -> [Int64] {
        let written = try all(
            """
            SELECT DISTINCT run FROM written
            WHERE state != 'begun' AND run NOT IN (SELECT run FROM undone_runs)
            """
        ) { $0.int64(0) }
        return Set(written + (try acceptances().compactMap(\.run))).sorted(by: >)
    }

    /// The number of the next fill. Later ones have higher numbers, whatever the clock says.
    package func nextRun() throws(Problem) -> Int64 {
        let runs = try all("SELECT max(run) FROM written UNION SELECT max(run) FROM decisions") { $0.int64(0) }
        return (runs.max() ?? 0) + 1
    }

    private func written(_ condition: String, _ value: SQLValue? = nil) throws(Problem) -> [Written] {
        try all(
            """
            SELECT number, kind, folder, name, digest, width, height, album, run, state, replaced, url, modified, time, root,
                disk, audio, growth, song, length, facts, noted FROM written \(condition)
            """, value
        ) { row in Written(row) }
    }

    // MARK: Writing

    /// Adds a row that replaces no other row of its number, or saves it again. - Returns: Its number.
    @discardableResult
    func save(_ row: Written) throws(Problem) -> Int64 {
        var number: Int64 = 0
        try transaction { number = try insert(row) }
        return number
    }

    /// As `save`, in a transaction.
    func insert(_ row: Written) throws -> Int64 {
        let last = row.number == 0 ? try database.integer("SELECT max(number) FROM written") ?? 0 : row.number - 1
        let places = [String](repeating: "?", count: 22).joined(separator: ", ")
        try database.statement("INSERT OR REPLACE INTO written VALUES (\(places))").run(
            .int(last + 1), .text(row.kind.rawValue), .blob(row.folder.bytes), .blob(row.name), .digest(row.digest),
            .int(row.width), .int(row.height), .text(row.album), .int(row.run), .text(row.state.rawValue),
            .int(row.replaced), .optional(row.url), .int(row.isNoted ? 1 : 0), .int(row.modified), .int(row.time),
            .path(row.root), .optional(row.disk), row.song.map { .digest($0.audio) } ?? .null, .int(row.song?.growth),
            row.song.map { .digest($0.file) } ?? .null, .int(row.length), row.facts.map { try .json($0) } ?? .null)
        return last + 1
    }

    /// - Returns: The row in its new state.
    @discardableResult
    package func set(
        _ row: Written, _ state: Written.State, at time: Int64 = WallClock.milliseconds()
    ) throws(Problem) -> Written {
        var changed = row
        (changed.state, changed.time) = (state, time)
        try save(changed)
        return changed
    }

    /// A person has removed it, before it was noticed: an acceptance may be newer. That was when the folder or the song changed last.
    func setRemoved(_ row: Written) throws(Problem) {
        let changed = (row.kind == .tags ? row.path : row.folder).modified.map { $0 / 1_000_000 } ?? 0
        let now = WallClock.milliseconds()
        try set(row, .removed, at: changed > row.time ? min(changed, now) : now)
    }

    /// Its picture is certain for these facts, too.
    func set(_ row: Written, judgedFor facts: AlbumQuery?) throws(Problem) {
        var judged = row
        judged.facts = facts
        try save(judged)
    }

    /// Does what takes a row back. If the process is killed meanwhile, the bytes tell whether it was done: it was no person who did it.
    func leave<R>(_ row: Written, as leaving: Written? = nil, _ body: (Written) throws -> R) throws -> R {
        let leaving = try set(leaving ?? row, .leaving)
        do { return try body(leaving) } catch {
            try save(row)
            throw error
        }
    }

    /// Removes a cover file that is as it was written.
    func remove(_ file: Written, in folder: OpenFolder) throws {
        guard let name = FileName(file.name) else { return }
        try OwnFile(name, in: folder, journal).remove(.init(file.digest, isSleeves: true))
    }

    /// A row was taken back. What it replaced, and is not put back, is in no place any more.
    func setUndone(_ row: Written) throws(Problem) {
        var undone = Optional(row)
        while let row = undone {
            try set(row, .undone)
            let former = try row.replaced.flatMap { number throws(Problem) in try written(number: number) }
            undone = former?.isInPlace == true ? former : nil
        }
    }

    /// Its file never got its name.
    func forget(_ row: Written) throws(Problem) {
        try transaction { try database.statement("DELETE FROM written WHERE number = ?").run(.int(row.number)) }
    }

    // MARK: Names of pictures

    /// By what a picture that a fill wrote is known, whose bytes may be a resized copy; nil if no fill wrote it.
    package func pictureName(of digest: Digest) throws(Problem) -> PictureName? {
        try reading {
            try database.statement("SELECT name FROM pictures WHERE digest = ?").first(.digest(digest)) { $0.json(0) }
                ?? nil
        }
    }

    /// The rows that are of pictures with these names.
    package func rows(_ rows: [Written], of pictures: [PictureName]) throws(Problem) -> [Written] {
        var found: [Written] = []
        for row in rows {
            let name = try pictureName(of: row.digest)
            if pictures.contains(where: { name?.relation(to: $0) == .same }) { found.append(row) }
        }
        return found
    }

    /// In a transaction.
    func insert(_ name: PictureName, of digest: Digest) throws {
        try database.statement("INSERT OR REPLACE INTO pictures VALUES (?, ?)").run(.digest(digest), .json(name))
    }

    // MARK: Addresses

    /// The addresses that the library has from fills, by its albums' ids: of each the last one that it was given, and those of rows that it may not
    /// know yet. What an undo took back is one until the library has lost it.
    /// - Parameter album: The only one that is wanted; nil for all.
    package func filledAddresses(of album: String? = nil) throws(Problem) -> [String: FilledAddress] {
        try reading {
            var (found, known): ([String: FilledAddress], Set<String>) = ([:], [])
            let rows = database.statement(
                """
                SELECT album, url, facts, noted FROM written
                WHERE url IS NOT NULL AND (album = ?1 OR ?1 IS NULL) ORDER BY number DESC
                """)
            try rows.each(.optional(album)) { row in
                let (album, url, isNoted) = (row.text(0), row.text(1), row.int(3) != 0)
                if isNoted ? !known.insert(album).inserted : known.contains(album) { return }
                if found[album] != nil {
                    found[album]?.former = url
                } else if let facts: AlbumQuery = row.json(2) {
                    found[album] = FilledAddress(url: url, facts: facts)
                }
            }
            return found
        }
    }

    /// Where sources had the covers of written files, by albums, as long as the library may not know it.
    func unnotedURLs() throws(Problem) -> [String: String] {
        let rows = try written("WHERE url IS NOT NULL AND noted = 0 AND state = 'there' ORDER BY number")
        return Dictionary(rows.map { ($0.album, $0.url ?? "") }) { $1 }
    }

    /// Where sources had covers that were taken back, by albums, as long as the library may have it.
    package func undoneAddresses() throws(Problem) -> [String: Set<String>] {
        let rows = try written("WHERE url IS NOT NULL AND state = 'undone'")
        return Dictionary(grouping: rows, by: \.album).mapValues { Set($0.compactMap(\.url)) }
    }

    /// The library has the addresses of what is there.
    /// - Parameter lost: And none of what was taken back. As long as it may have one, that is known as a fill's.
    package func noteAddresses(lost: Bool = false) throws(Problem) {
        try transaction {
            try database.statement("UPDATE written SET noted = 1 WHERE noted = 0 AND state = 'there'").run()
            if lost { try database.statement("UPDATE written SET url = NULL WHERE state = 'undone'").run() }
        }
    }
}

extension Written {
    /// Nil for a row whose kind or state this version does not know.
    fileprivate init?(_ row: borrowing Row) {
        let (folder, name) = (row.bytes(2), row.bytes(3))
        guard let kind = Kind(rawValue: row.text(1)), let digest = row.digest(4), !folder.isEmpty, !name.isEmpty,
            let state = State(rawValue: row.text(9))
        else { return nil }
        self.init(
            folder: BytePath(bytes: folder), name: name, digest: digest, width: row.optionalInt(5),
            height: row.optionalInt(6), album: row.text(7), run: row.int64(8), url: row.optionalText(11))
        (number, self.kind, self.state, replaced) = (row.int64(0), kind, state, row.optionalInt64(10))
        (modified, time, root, disk) = (row.optionalInt64(12), row.int64(13), row.path(14), row.optionalText(15))
        (length, facts, isNoted) = (row.optionalInt(19), row.json(20), row.int(21) != 0)
        if let audio = row.digest(16), let file = row.digest(18) {
            song = Song(audio: audio, growth: row.int(17), file: file)
        }
    }
}
