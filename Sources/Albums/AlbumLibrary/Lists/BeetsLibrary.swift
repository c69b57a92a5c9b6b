import Platform
import SQLite

/// The albums of a beets library (`library.db`), which may be open in beets meanwhile. Nothing is written, nor created beside it.
final class BeetsLibrary {
    private static let pageSize = 500
    private let file: String
    private let connection: Connection
    private let sql: String
    private var last: Int64 = 0

    /// Whether a file begins as a SQLite database does (sqlite.org/fileformat2.html).
    static func isDatabase(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: "SQLite format 3\0".utf8) }

    /// - Parameter header: the first 100 bytes of the file.
    /// - Throws: `ListProblem` if it cannot be read, or is another program's.
    init(path: String, header: [UInt8]) throws(ListProblem) {
        file = path
        do {
            // SQLite would create the files of a write-ahead log to read it. Without one there, no process is writing.
            let isIdle = header[18] == 2 && AllocatedSpace.length(of: path + "-wal") == 0
            connection = try Connection(path, isIdle ? .immutable : .reading, busyTimeout: .seconds(5))
            sql = try Self.query(connection)
        } catch {
            throw Self.problem(path, error)
        }
    }

    /// The next albums; nil at the end. Beets may write between two calls.
    /// - Throws: `ListProblem`.
    func next() throws(ListProblem) -> [ListElement]? {
        var elements: [ListElement] = []
        do {
            try connection.statement(sql).each(.int(last), .int(Int64(Self.pageSize))) { row in
                last = row.int64(0)
                let location = ListLocation(file: file, line: Int(clamping: last))
                elements.append(.album(Self.album(row), location, ListOptions()))
            }
        } catch {
            throw Self.problem(file, error)
        }
        return elements.isEmpty ? nil : elements
    }

    /// Selects the columns that this version of beets has, in the order of `album(_:)`.
    private static func query(_ connection: borrowing Connection) throws -> String {
        var columns: Set<String> = []
        try connection.statement("SELECT name FROM pragma_table_info('albums')").each { columns.insert($0.text(0)) }
        guard columns.isSuperset(of: ["id", "album", "albumartist"]) else { throw NoBeetsLibrary() }
        func column(_ names: String...) -> String { names.first(where: columns.contains) ?? "''" }
        var cover = column("cover_art_url")
        if try connection.hasTable("album_attributes") {
            cover =
                "coalesce(nullif(\(cover), ''), (SELECT value FROM album_attributes WHERE entity_id = albums.id AND key = 'cover_art_url'))"
        }
        let selected = [
            "id", "album", "albumartist", column("genres", "genre"), column("year"), column("original_year"),
            column("mb_albumid"), column("mb_releasegroupid"), cover,
        ]
        return "SELECT \(selected.joined(separator: ", ")) FROM albums WHERE id > ? ORDER BY id LIMIT ?"
    }

    private struct NoBeetsLibrary: Error {}

    private static func album(_ row: borrowing Row) -> Album {
        var album = Album(title: row.text(1), artist: row.text(2))
        // Several genres are separated by a backslash and the symbol for NUL, before beets 2.6 by semicolons.
        album.genre = row.text(3).replacing("\\\u{2400}", with: ", ").replacing("; ", with: ", ")
        album.year = [row.text(4), row.text(5)].first { !$0.isEmpty && $0 != "0" } ?? ""
        // Albums that were matched with another service have its ids there.
        album.addMusicBrainzID(row.text(6), .release)
        album.addMusicBrainzID(row.text(7), .releaseGroup)
        let cover = row.text(8)
        if cover.isURL { album.coverURL = cover }
        return album
    }

    private static func problem(_ file: String, _ error: any Error) -> ListProblem {
        let location = ListLocation(file: file)
        if error is NoBeetsLibrary {
            return ListProblem(location, "is a SQLite database, but not a beets library; \(DetectedFormat.expected)")
        }
        guard let error = error as? SQLiteError else { return ListProblem(location, "cannot be read: \(error)") }
        switch error.code {
        case .busy: return ListProblem(location, "is locked by another program; try again when it is done")
        case .readOnly: return ListProblem(location, "has an unfinished change; run `beet ls` once, which completes it")
        default: return ListProblem(location, "cannot be read: \(error)")
        }
    }
}
