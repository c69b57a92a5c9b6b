import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

@testable import CoverLibrary
@testable import sleeve

extension MusicTests {
    @Suite struct AlbumTests {
        private func titles(_ stage: Stage) async throws -> [String] {
            let result = try await stage.run("album", "list", "--json")
            try #require(result.status == 0, "\(result)")
            return result.stdout.split(separator: "\n").compactMap { Album(json: String($0))?.title }
        }

        private func withAlbums(_ titles: String..., body: (Stage) async throws -> Void) async throws {
            try await withStage { stage in
                let albums = titles.map { Album(title: $0, artist: "By \($0)", year: "1999") }
                try stage.write(albums)
                try await body(stage)
            }
        }

        @Test func `list shows a table of number, artist, album, genre and year with aligned columns`()
            async throws
        {
            try await withAlbums("A", "東京 Nights") { stage in
                let result = try await stage.run("album", "list")
                #expect(
                    result.stdout == """
                        #  Artist          Album        Genre  Year
                        1  By A            A                   1999
                        2  By 東京 Nights  東京 Nights         1999

                        """)
                #expect(try await stage.run("album", "list", "tok").stdout == "No album matches.\n")
                #expect(try await stage.run("album", "list", "NIGHTS").stdout.contains("2  By"))
            }
        }

        @Test(arguments: [["list"], ["list", "--json"], ["show", "1"]])
        func `a command that reads a library creates none`(arguments: [String]) async throws {
            try await withStage { stage in
                let path = stage.folder + "/none.json"
                let result = try await run(["album"] + arguments + ["--library", path], environment: stage.environment)
                #expect(result.status == 1 && result.stdout.isEmpty, "\(result)")
                #expect(result.stderr.contains("no library file at \(path)"))
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }

        @Test func `list fits the terminal's width and replaces control characters in titles`() {
            let rows = [["1", String(repeating: "x", count: 50)], ["2", "a\u{1B}[2Jb"]]
            let table = TextTable(["#", "Title"], rows, numeric: [0])
            let lines = table.text(width: 20).split(separator: "\n")
            #expect(lines[1] == "1  " + String(repeating: "x", count: 16) + "…")
            #expect(lines[2] == "2  a\u{FFFD}[2Jb")
        }

        @Test func `list shows albums that were added, deleted, undone and redone`() async throws {
            try await withAlbums("A", "B", "C") { stage in
                let added = try await stage.run("album", "add", "--title", "New", "--at", "2", "--year", "2001")
                #expect(added.status == 0 && added.stdout == "Added “New”\n")
                #expect(try await titles(stage) == ["A", "New", "B", "C"])
                #expect(try await stage.run("album", "delete", "1", "b").stdout == "Deleted 2 albums\n")
                #expect(try await titles(stage) == ["New", "C"])
                #expect(try await stage.run("album", "undo").stdout == "Restored 2 albums\n")
                #expect(try await stage.run("album", "undo", "--json").stdout.contains("\"edit\":\"delete\","))
                #expect(try await titles(stage) == ["A", "B", "C"])
                #expect(try await stage.run("album", "redo", "--quiet").stdout == "")
                #expect(try await titles(stage) == ["A", "New", "B", "C"])
            }
        }

        @Test func `undo and redo say what they did to which album`() async throws {
            try await withAlbums("A") { stage in
                func message(_ arguments: String...) async throws -> String {
                    try await run(["album"] + arguments, environment: stage.environment).stdout
                }
                _ = try await message("delete", "A")
                #expect(try await message("undo") == "Restored “A”\n")
                #expect(try await message("redo") == "Deleted “A” again\n")
                _ = try await message("add", "--title", "B")
                #expect(try await message("undo") == "Removed “B”\n")
                #expect(try await message("redo") == "Added “B” again\n")
                let undone = try await message("undo", "--json")
                #expect(undone.contains("\"edit\":\"delete\",\"message\":\"Removed “B”\","), "\(undone)")
            }
        }

        @Test func `an edited album keeps its number, and undo in another process restores it`() async throws {
            try await withAlbums("A", "B", "C") { stage in
                let edited = try await stage.run(
                    "album", "edit", "b", "--title", "Bee", "--year", "2001", "--cover-url", "http://a/1")
                #expect(edited.status == 0 && edited.stdout == "Edited “Bee”\n", "\(edited)")
                let lines: [AlbumLine] = try await stage.run("album", "list", "--json").lines()
                #expect(lines.map(\.title) == ["A", "Bee", "C"])
                #expect(lines[1].artist == "By B" && lines[1].year == "2001" && lines[1].coverUrl == "http://a/1")
                #expect(try await stage.run("album", "undo").status == 0)
                #expect(try await titles(stage) == ["A", "B", "C"])
                #expect(try await stage.run("album", "redo", "--json").stdout.contains("\"edit\":\"edit\","))
                #expect(try await titles(stage) == ["A", "Bee", "C"])
                let cleared = try await stage.run("album", "edit", "2", "--year", "", "--cover-url", "")
                #expect(cleared.status == 0, "\(cleared)")
                let album: AlbumLine? = try await stage.run("album", "list", "--json").lines()[1]
                #expect(album?.year == "" && album?.coverUrl == nil)
            }
        }

        @Test func `of many albums with one title ten numbers are named, and how many more there are`()
            async throws
        {
            try await withAlbums("S", "S", "S", "S", "S", "S", "S", "S", "S", "S", "S", "S") { stage in
                let shown = try await stage.run("album", "show", "S")
                #expect(
                    shown.status == 64
                        && shown.stderr.contains("12 albums are titled “S”; name one by its id or its folder: "))
                #expect(shown.stderr.contains("; By S, S (") && shown.stderr.contains("; and 2 more"), "\(shown)")
            }
        }

        @Test func `an album can be added with several cover URLs and MusicBrainz ids`() async throws {
            let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
            try await withAlbums("A") { stage in
                let added = try await stage.run(
                    "album", "add", "--title", "New", "--cover-url", "http://a/1", "--cover-url", "http://a/2",
                    "--cover-url", "http://a/3", "--release-id", id, "--release-group-id", id)
                #expect(added.status == 0, "\(added)")
                let lines: [AlbumLine] = try await stage.run("album", "list", "--json").lines()
                #expect(lines.last?.coverUrl == "http://a/1" && lines.last?.coverUrls == ["http://a/2", "http://a/3"])
                #expect(lines.last?.musicBrainzReleaseId == id && lines.last?.musicBrainzReleaseGroupId == id)
                let plain = try await stage.run("album", "add", "--title", "Plain", "--json")
                #expect(!plain.stdout.contains("coverUrl") && !plain.stdout.contains("usicBrainz"), "\(plain)")
            }
        }

        @Test func `an impossible edit fails with a message that says what to do`() async throws {
            try await withAlbums("A", "Same", "Same") { stage in
                let cases: [([String], Int32, String)] = [
                    (["undo"], 1, "there is nothing to undo"), (["redo"], 1, "there is nothing to redo"),
                    (["delete", "9"], 1, "there is no album 9; the library has 3 albums"),
                    (["delete", "same"], 64, "2 albums are titled “same”; name one by its id or its folder: "),
                    (["delete", "title:Same"], 64, "2 albums are titled “Same”; name one by its id or its folder: "),
                    (["show", "nothing"], 1, "album list"),
                    (["add", "--title", " "], 64, "--title: an album needs a title"),
                    (["add", "--title", "x", "--year", "99"], 64, "--year"),
                    (["add", "--title", "x", "--cover-url", "ftp://x"], 64, "--cover-url: ftp:// is not supported"),
                    (["add", "--title", "x", "--at", "0"], 64, "--at must be 1 or more"),
                    (
                        ["add", "--title", "x", "--cover-url", "http://a/1", "--cover-url", "ftp://x"], 64,
                        "--cover-url: ftp://x: ftp:// is not supported"
                    ),
                    (["add", "--title", "x", "--release-id", "12"], 64, "--release-id: '12' is not a MusicBrainz id"),
                    (["edit", "1"], 64, "nothing to change: give --title"),
                    (["edit", "9", "--title", "x"], 1, "there is no album 9; the library has 3"),
                    (["edit", "1", "--title", ""], 64, "--title: an album needs a title"),
                    (["edit", "1", "--year", "99"], 64, "--year"),
                    (["edit", "1", "--cover-url", "ftp://x"], 64, "--cover-url: ftp:// is not supported"),
                    (["edit", "1", "--title", "A"], 1, "nothing was changed: the album has these values already"),
                    (["add", "--title", "x", "--release-group-id", "y"], 64, "--release-group-id: 'y' is not"),
                ]
                for (arguments, status, message) in cases {
                    let result = try await run(["album"] + arguments, environment: stage.environment)
                    #expect(result.status == status, "\(arguments) \(result)")
                    #expect(result.stderr.contains(message), "\(arguments) \(result)")
                }
                #expect(try await titles(stage) == ["A", "Same", "Same"])
            }
        }

        @Test func `an ambiguous name fails, and a prefix resolves it`() async throws {
            try await withStage { stage in
                let albums = [Album(id: "x", title: "A"), Album(id: "1", title: "B"), Album(id: "y", title: "2")]
                try stage.write(albums)
                let result = try await stage.run("album", "delete", "1")
                #expect(result.status == 1 && result.stderr.contains("write number:1 or id:1"), "\(result)")
                let none = try await stage.run("album", "delete", "title:C")
                #expect(none.stderr.contains("there is no album titled “C”;"), "\(none)")
                #expect(try await stage.run("album", "delete", "title:2", "id:1").stdout == "Deleted 2 albums\n")
                #expect(try await titles(stage) == ["A"])
            }
        }

        @Test func `a damaged library file is moved aside, reported, and replaced by the last good one`() async throws {
            try await withAlbums("A") { stage in
                _ = try await stage.run("album", "add", "--title", "B")
                _ = try stage.file("albums.json", "[\n{\"title\": \"A\",")
                let result = try await stage.run("album", "list", "--json")
                #expect(result.status == 0)
                let lines = result.stderr.split(separator: "\n")
                #expect(
                    lines.count == 1 && lines[0].hasPrefix("sleeve: \(stage.folder)/albums.json:2:1: "), "\(result)")
                #expect(result.stderr.contains("moved it to \(stage.folder)/albums.json.state/damaged-"))
                #expect(try await titles(stage) == ["A", "B"])
            }
        }

        @Test func `show prints the fields, and the command that saves the cached cover`() async throws {
            try await withStage { stage in
                let url = stage.origin.coverURL(1) + "?size=4000&x='"
                let album = Album(title: "A", artist: "B", coverURL: url)
                try stage.write([album])
                try await stage.fill([url])
                let result = try await stage.run("album", "show", "a")
                #expect(result.status == 0, "\(result)")
                let lines = result.stdout.split(separator: "\n")
                let names = lines.map { $0.prefix { $0 != " " } }
                #expect(names == ["Artist", "Album", "Genre", "Year", "URL", "Cover", "Save"])
                #expect(!result.stdout.contains(stage.cache))
                let command = try #require(lines.last?.split(separator: "  ").last)
                let saved = try await stage.shell(
                    "cd \"$1\" && \"$SLEEVE\" \(command.dropFirst(7)) --offline", stage.folder)
                #expect(command.hasPrefix("sleeve get '") && saved.status == 0, "\(command) \(saved)")
                let cover = try Data(contentsOf: URL(filePath: stage.folder + "/cover.jpg"))
                #expect(result.stdout.contains("Cover    image/jpeg, "))
                struct Shown: Decodable { var cover: Cover }
                struct Cover: Decodable { var path: String, bytes: Int, digest: String }
                let shown = try await stage.run("album", "show", "1", "--json").json(Shown.self).cover
                let bytes = try Data(contentsOf: URL(filePath: shown.path))
                #expect(bytes.count == shown.bytes && cover == bytes)
            }
        }

        @Test func `show requests nothing, and says where a cover that is not cached was looked for`() async throws {
            try await withStage { stage in
                let albums = [Album(title: "A", coverURL: stage.origin.coverURL(1)), Album(title: "B")]
                try stage.write(albums)
                let missing = try await stage.run("album", "show", "A")
                #expect(missing.status == 0 && missing.stdout.contains("not in the cache; `sleeve why`"), "\(missing)")
                let none = try await stage.run("album", "show", "B")
                #expect(none.status == 0 && none.stdout.contains("no file, and no address"), "\(none)")
                #expect(stage.origin.requestCount == 0)
            }
        }

        @Test func `what list prints as JSON can be imported again completely`() async throws {
            try await withStage { stage in
                let albums = [
                    Album(
                        title: "Comma, \"quoted\"\nline", artist: "é", genre: "; ", coverURL: "https://a/1,2",
                        year: "1999"),
                    Album(title: "No cover"),
                ]
                try stage.write(albums)
                let list = try stage.file("list.jsonl", try await stage.run("album", "list", "--json").stdout)
                let library = try stage.file("other.json", "[]")
                let result = try await stage.run("album", "import", list, "--library", library, "--json")
                #expect(result.stdout.contains("\"imported\":2,\"known\":0,"), "\(result)")
                let brought = try stage.albums(of: library)
                #expect(brought.map(\.title) == albums.map(\.title))
                #expect(brought.map(\.coverUrl) == albums.map(\.coverURL))
                #expect(brought.map(\.id) == albums.map(\.id))
                let again = try await stage.run("album", "import", list, "--library", library)
                #expect(again.stdout == "Imported 0 albums, 2 already in the library\n")
                #expect(try await stage.run("album", "undo", "--library", library).stdout == "Removed 2 albums\n")
            }
        }

        @Test func `deleting an album that the remote library does not have succeeds with a warning`() async throws {
            let remote = try RemoteLibrary()
            defer { remote.stop() }
            try await withAlbums("Never sent") { stage in
                let result = try await stage.run("album", "delete", "1", "--remote", remote.url)
                #expect(result.status == 0, "\(result)")
                #expect(
                    result.stderr.contains("deleting “Never sent”: \(remote.url)/ did not have it\n"),
                    "\(result)")
            }
        }

        @Test func `twenty concurrent processes that add and undo lose no edit`() async throws {
            try await withAlbums { stage in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            let result = try await stage.run("album", "add", "--title", "T\(number)", "--quiet")
                            #expect(result.status == 0, "\(result)")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await Set(titles(stage)) == Set((0..<20).map { "T\($0)" }))
                for _ in 0..<20 { #expect(try await stage.run("album", "undo").status == 0) }
                #expect(try await titles(stage) == [])
            }
        }

        @Test func `an acknowledged edit survives kill -9, and a killed one leaves a valid library`()
            async throws
        {
            try await withAlbums { stage in
                var acknowledged: [String] = []
                for round in 0..<12 {
                    let script = """
                        n=0; while :; do "$SLEEVE" album add --title "\(round)-$n" --quiet && echo "\(round)-$n"; n=$((n+1)); done
                        """
                    // A new process group, so that the kill reaches the command and not only the shell.
                    let child = try Child(
                        "/usr/bin/setsid", ["/bin/sh", "-c", script], environment: stage.environment)
                    _ = await child.firstOutputLine()
                    kill(-child.pid, SIGKILL)
                    acknowledged += await child.exit().stdout.split(separator: "\n").map(String.init)
                }
                let there = try await Set(titles(stage))
                #expect(acknowledged.allSatisfy(there.contains))
                #expect(acknowledged.count >= 12)
                #expect(try await stage.run("album", "undo").status == 0)
            }
        }
    }
}

extension Stage {
    /// Writes the library file.
    fileprivate func write(_ albums: [Album]) throws {
        _ = try file("albums.json", String(decoding: AlbumFile.text(of: albums), as: UTF8.self))
    }
}
