import Foundation
import SQLite
import Testing

@testable import AlbumLibrary

@Suite struct BeetsLibraryTests {
    private static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    /// A library as beets makes it: its columns, and attributes in a table of their own.
    private func library(genres: String = "genres", _ script: String = "") throws -> ListFile {
        let file = try ListFile([], name: "library.db")
        let connection = try Connection(file.path)
        try connection.execute(
            """
            CREATE TABLE albums (id INTEGER PRIMARY KEY, artpath BLOB, added REAL, albumartist TEXT, album TEXT,
                \(genres) TEXT, year INTEGER, original_year INTEGER, mb_albumid TEXT, mb_releasegroupid TEXT);
            CREATE TABLE album_attributes (id INTEGER PRIMARY KEY, entity_id INTEGER, key TEXT, value TEXT,
                UNIQUE(entity_id, key) ON CONFLICT REPLACE);
            INSERT INTO albums (id, albumartist, album, \(genres), year, mb_albumid)
                VALUES (3, 'Lights', 'Low Tide', 'Folk\\\u{2400}Rock', 1971, '\(Self.release)');
            INSERT INTO albums (id, albumartist, album, \(genres), year, original_year, mb_albumid)
                VALUES (7, 'Mira', 'Suns', 'Soul; Jazz', 0, 1974, '123456');
            INSERT INTO album_attributes (entity_id, key, value) VALUES (7, 'cover_art_url', 'https://a/7.jpg');
            INSERT INTO albums (id, albumartist, album, year) VALUES (8, 'x', 'nothing', 0);
            \(script)
            """)
        return file
    }

    private func names(beside file: ListFile) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: (file.path as NSString).deletingLastPathComponent)
    }

    @Test(arguments: ["genres", "genre"])
    func `albums have their texts, their MusicBrainz ids and the address of their cover`(genres: String) throws {
        let file = try library(genres: genres)
        let elements = try file.elements()
        try #require(elements.count == 3)
        guard case .item(let first) = elements[0], case .item(let second) = elements[1],
            case .problem(let third) = elements[2]
        else {
            Issue.record("\(elements)")
            return
        }
        #expect(first.album?.title == "Low Tide" && first.album?.artist == "Lights" && first.album?.year == "1971")
        #expect(first.album?.genre == "Folk, Rock" && first.album?.musicBrainzReleaseID == Self.release)
        #expect(second.url == "https://a/7.jpg" && second.album?.year == "1974" && second.album?.genre == "Soul, Jazz")
        #expect(second.album?.musicBrainzReleaseID == nil, "an id of another service")
        #expect("\(third)" == "\(file.path):8: album 'nothing' has no cover URL; skipped")
        #expect(third.album?.title == "nothing")
        #expect(try names(beside: file) == ["library.db"])
    }

    @Test func `more albums than a page are read`() throws {
        let file = try library(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1399)
            INSERT INTO albums (id, albumartist, album, mb_albumid) SELECT i, 'a', 'b' || i, '\(Self.release)' FROM n;
            """)
        #expect(try file.elements().count == 1_303)
    }

    @Test func `a library with a write-ahead log is read without one, and with the log while another process has it`()
        throws
    {
        let file = try library("PRAGMA journal_mode = WAL;")
        #expect(try names(beside: file) == ["library.db"])
        #expect(try file.elements().count == 3)
        #expect(try names(beside: file) == ["library.db"], "nothing is created beside it")
        let writer = try Connection(file.path)
        try writer.execute("INSERT INTO albums (id, albumartist, album) VALUES (9, 'new', 'in the log')")
        #expect(try file.elements().count == 4)
    }

    @Test func `a library that another process writes is read as it was, and one that stays locked is said`() throws {
        let file = try library()
        let writer = try Connection(file.path)
        try writer.begin(.immediate)
        #expect(try file.elements().count == 3)
    }

    @Test func `another database, a damaged one and a pipe are said`() throws {
        let other = try ListFile([], name: "other.db")
        try Connection(other.path).execute("CREATE TABLE albums (id INTEGER PRIMARY KEY, name TEXT)")
        let error = #expect(throws: ListProblem.self) { _ = try AlbumListReader(path: other.path) }
        #expect(error?.message.contains("is a SQLite database, but not a beets library") == true)
        let damaged = try ListFile(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 4_096))
        #expect(throws: ListProblem.self) { _ = try AlbumListReader(path: damaged.path) }
    }
}
