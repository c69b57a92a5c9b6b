import CoverSources
import Foundation
import MusicFiles
import Platform
import SleeveStage
import Testing

extension MusicTests {
    /// Music folders, the imitated services, and the command, which may be killed.
    @Suite struct FillTests: FillSuite {
        @Test func `covers that match for certain are written, and a second run asks nobody`() async throws {
            try await withMusic { stage, fill in
                let (first, result) = try await run(stage, fill)
                #expect(result.status == 3)
                #expect((first.albums, first.filled, first.missing, first.doubtful) == (5, 3, 1, 1), "\(result)")
                let files = pictures(stage)
                #expect(
                    Set(files.keys) == [
                        "The Harbour Lights/Low Tide/cover.jpg", "Guns N' Roses/The Spaghetti Incident?/cover.jpg",
                        "Id/With an Id/cover.jpg",
                    ])
                let archive = try #require(fill.first { $0.hasPrefix("caa=") })
                let why = try await SleeveStage.run(
                    ["why", "With an Id"],
                    environment: stage.environment.merging(["SLEEVE_SOURCE_BASE": archive]) { $1 })
                #expect(
                    why.stdout.contains("\(archive.dropFirst(4))/release/\(Self.release)/front-1200  cached"), "\(why)")
                let (second, _) = try await run(stage, fill + ["--offline"])
                #expect((second.covered, second.filled, second.missing, second.doubtful) == (3, 0, 1, 1))
                let plan = try await SleeveStage.run(
                    fill.filter { $0 != "--json" } + ["--dry-run"], environment: stage.environment)
                #expect(!plan.stdout.contains("would ask itunes") && plan.stdout.contains("ask no source again yet"))
                let outcome = "\n0 albums would be looked for; 2 not again yet; 3 have a cover file.\n"
                #expect(plan.stdout.hasSuffix(outcome), "\(plan)")
                #expect(pictures(stage) == files)
            }
        }

        @Test func `after tags were corrected, what a fill wrote gives way to what is certain for them, or is named`()
            async throws
        {
            let (artist, titles) = ("The Harbour Lights", ["Low Tide", "Low Tides", "Low Tider"])
            let provided = zip(titles, [SourceName.itunes, .deezer]).map {
                ServiceAlbum(artist: artist, title: $0, year: 1971, tracks: 2, services: [$1])
            }
            try await withMusic(albums: [Self.albums[0]], provided: provided) { stage, fill in
                #expect(try await run(stage, fill).0.filled == 1)
                let (path, first) = ("\(artist)/Low Tide/cover.jpg", pictures(stage))
                func retag(_ title: String) throws {
                    try MusicFile.writeSongs(
                        2, in: "\(stage.folder)/music/\(artist)/Low Tide",
                        MusicTags(album: title, albumArtist: artist, artist: artist, date: "1971"))
                }
                try retag(titles[1])
                let (replaced, result) = try await run(stage, fill)
                let second = pictures(stage)
                #expect(replaced.filled == 1 && second[path] != first[path] && second.count == 1, "\(result)")
                #expect(try await run(stage, fill).0.covered == 1)
                // No service has it.
                try retag(titles[2])
                let silent = try await stage.run("audit", stage.folder + "/music", "--only", "outdated")
                #expect(silent.status == 0, "no service was asked: \(silent)")
                let (named, told) = try await run(stage, fill)
                #expect((named.covered, named.filled, named.missing) == (0, 0, 1), "\(told)")
                #expect(told.stderr.contains("\(path): it was written for other tags"), "\(told)")
                #expect(pictures(stage) == second)
                let audit = try await stage.run("audit", stage.folder + "/music")
                #expect(audit.status == 3 && audit.stdout.contains("outdated"), "\(audit)")
                let why = try await stage.run("why", titles[2])
                #expect(why.stdout.contains("; it was written for other tags, and is not certain"), "\(why)")
            }
        }

        @Test func `the cover of the album that was in a folder before is named, if the one that is there gets none`()
            async throws
        {
            try await withMusic(albums: [Self.albums[0]]) { stage, fill in
                #expect(try await run(stage, fill).0.filled == 1)
                let folder = "\(stage.folder)/music/The Harbour Lights/Low Tide"
                for song in try FileManager.default.contentsOfDirectory(atPath: folder) where song != "cover.jpg" {
                    try FileManager.default.removeItem(atPath: "\(folder)/\(song)")
                }
                try MusicFile.writeSongs(
                    3, in: folder, MusicTags(album: "Quay", albumArtist: "Zed", artist: "Zed", date: "1999"))
                let plan = try await SleeveStage.run(
                    fill.filter { $0 != "--json" } + ["--dry-run"], environment: stage.environment)
                #expect(plan.stdout.contains("it was written for another album"), "\(plan)")
                let (filled, result) = try await run(stage, fill)
                #expect((filled.covered, filled.filled, filled.missing) == (0, 0, 1), "\(result)")
                #expect(result.stderr.contains("\(folder)/cover.jpg: it was written for another album"), "\(result)")
                let why = try await stage.run("why", "Quay")
                #expect(why.stdout.contains("of another album: The Harbour Lights, Low Tide (1971)"), "\(why)")
                let gone = try await stage.run("why", "Low Tide")
                #expect(gone.stdout.contains("The last scan has found none of its songs."), "\(gone)")
                let audit = try await stage.run("audit", stage.folder + "/music", "--only", "outdated")
                #expect(audit.stdout.contains("it was written for another album"), "\(audit)")
            }
        }

        @Test func `review prints an album in six lines at most, and with what was refused and removed once`()
            async throws
        {
            let provided = [1960, 1970, 1980].map {
                ServiceAlbum(artist: "Someone", title: "Reissued", year: $0, tracks: 44, services: [.itunes])
            }
            try await withMusic(albums: [Self.albums[2], Self.albums[0]], provided: provided + Self.provided) {
                stage, fill in
                #expect(try await run(stage, fill).0.doubtful == 1)
                let review = try await stage.run("fill", "review")
                let lines = review.stdout.split(separator: "\n")
                #expect(lines.count == 6 && lines[5] == "  2 more; `sleeve why` lists them", "\(review)")
                #expect(lines.filter { $0.contains("://") }.count == 2, "\(review)")
                // Refused, and removed.
                #expect(try await stage.run("fill", "refuse", "Low Tide").status == 0)
                try FileManager.default.removeItem(
                    atPath: "\(stage.folder)/music/The Harbour Lights/Low Tide/cover.jpg")
                let refused = try await stage.run("fill", "review", "--refused")
                let names = refused.stdout.split(separator: "\n").filter { !$0.hasPrefix(" ") }
                #expect(names.count == 1 && refused.stdout.contains("gone: "), "\(refused)")
            }
        }

        @Test func `the library's undo takes back the addresses that a fill gave, and leaves the files`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let files = pictures(stage)
                func addresses() throws -> Int {
                    try stage.text(of: stage.folder + "/albums.json").components(separatedBy: "coverUrl").count - 1
                }
                #expect(try addresses() == 3)
                #expect(try await stage.run("album", "undo").status == 0)
                #expect(try addresses() == 0)
                let (next, result) = try await run(stage, fill + ["--offline"])
                #expect((next.covered, next.filled) == (3, 0), "\(result)")
                #expect(pictures(stage) == files)
            }
        }

        @Test func `pictures of one colour, and one picture for albums of three artists, are not written`() async throws
        {
            let albums = ["A", "B", "C", "D", "E"].map { ($0, "Title \($0)", "1999", "") }
            var provided = albums.prefix(4).map { artist, title, _, _ in
                ServiceAlbum(
                    artist: artist, title: title, year: 1999, tracks: 2, services: [.itunes],
                    picture: artist == "D" ? .plain : .same)
            }
            // iTunes has no picture, and that of Deezer is doubtful.
            provided += [
                ServiceAlbum(artist: "E", title: "Title E", year: 1999, tracks: 2, services: [.itunes], largest: 50),
                ServiceAlbum(artist: "E", title: "Title E", tracks: 5, services: [.deezer]),
            ]
            try await withMusic(albums: albums, provided: provided) { stage, fill in
                let (first, result) = try await run(stage, fill)
                #expect((first.filled, first.doubtful, first.missing) == (0, 4, 1), "\(result)")
                #expect(pictures(stage).isEmpty)
                #expect(result.stderr.contains("D, Title D (1999): not written"), "\(result)")
                #expect(result.stderr.contains("has one colour only"), "\(result)")
                let review = try await stage.run("fill", "review")
                let same = review.stdout.split(separator: "\n").filter {
                    $0.contains("albums of other artists have the same")
                }
                #expect(same.count == 1 && same[0].contains("A, Title A (1999); ") && same[0].contains("C, Title C"))
                #expect(review.stdout.contains("title agrees, year unknown"), "\(review)")
                let (second, _) = try await run(stage, fill)
                #expect((second.filled, second.doubtful, second.missing) == (0, 4, 1), "earlier fills count")
                let names = ["A", "B", "C", "E"].map { "Title \($0)" }
                let (accepted, _) = try await run(stage, ["fill", "accept"] + names + fill.dropFirst(2))
                #expect((accepted.filled, accepted.doubtful) == (4, 0))
            }
        }

        @Test func `written covers are removed again once an album of a third artist has their picture`() async throws {
            let albums = ["A", "B", "C"].map { ($0, "Title \($0)", "1999", "") }
            let provided = albums.map { artist, title, _, _ in
                ServiceAlbum(artist: artist, title: title, year: 1999, tracks: 2, services: [.itunes], picture: .same)
            }
            // The third one's picture is sent when the others have been written.
            let waits: @Sendable (Int, String) -> Void = { album, music in
                let files = ["A/Title A", "B/Title B"].map { "\(music)/\($0)/cover.jpg" }
                for _ in 0..<6_000 where album == 2 && !files.allSatisfy(FileManager.default.fileExists) {
                    usleep(10_000)
                }
            }
            try await withMusic(albums: albums, provided: provided, willSend: waits) { stage, fill in
                let (counts, result) = try await run(stage, fill)
                #expect((counts.filled, counts.doubtful) == (0, 3), "\(result)")
                #expect(result.stderr.components(separatedBy: "removed again").count == 3, "\(result)")
                #expect(pictures(stage).isEmpty)
            }
        }

        @Test func `the report has a line for each folder, and each written file is said unless that is not wanted`()
            async throws
        {
            struct Line: Decodable {
                var folder, outcome, title: String
                var file, url, source, digest, reason: String?
            }
            func lines(_ path: String) throws -> [String: Line] {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                let lines = try text.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                return Dictionary(lines.map { ($0.title, $0) }) { first, _ in first }
            }
            try await withMusic { stage, fill in
                let path = stage.folder + "/report.jsonl"
                let (_, result) = try await run(stage, fill + ["--report", path])
                let report = try lines(path)
                #expect(
                    report.mapValues(\.outcome) == [
                        "Low Tide": "written", "The Spaghetti Incident?": "written", "With an Id": "written",
                        "Reissued": "doubtful", "Nowhere": "missing",
                    ])
                let written = try #require(report["Low Tide"])
                #expect(written.file == written.folder + "/cover.jpg" && written.source == "itunes")
                let bytes = try #require(pictures(stage)["The Harbour Lights/Low Tide/cover.jpg"])
                #expect(written.digest == Digest(of: bytes).description)
                #expect(result.stderr.contains("wrote \(written.file ?? "") (iTunes)"), "\(result)")
                let again = try await SleeveStage.run(fill + ["-q", "--report", path], environment: stage.environment)
                #expect(again.stderr.isEmpty, "\(again)")
                #expect(try lines(path)["Low Tide"]?.outcome == "covered")
                try FileManager.default.removeItem(atPath: try #require(written.file))
                let (_, kept) = try await run(stage, fill)
                #expect(kept.stderr.contains("you removed the cover that a fill wrote"), "\(kept)")
                #expect(try await stage.run("why", "Low Tide").stdout.contains("removed by you"))
                let listed = try await stage.run("fill", "review", "--refused")
                #expect(listed.stdout.contains("you removed \(written.file ?? "")"), "\(listed)")
                // From the cache, at the album's own URL by now.
                #expect(try await stage.run("fill", "allow", "The Harbour Lights, Low Tide (1971)").status == 0)
                let (_, refill) = try await run(stage, fill)
                #expect(refill.stderr.contains("wrote \(written.file ?? "") (iTunes)"), "\(refill)")
            }
        }

        @Test func `an address of a fill is not used again where the album's songs make its cover doubtful`()
            async throws
        {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let folder = stage.folder + "/music/The Harbour Lights/Low Tide"
                try FileManager.default.removeItem(atPath: folder + "/cover.jpg")
                #expect(try await stage.run("fill", "allow", "Low Tide").status == 0)
                for track in 3...6 {
                    try MusicFile.write("\(folder)/\(track).mp3", MusicTags(date: "1971", track: track))
                }
                let (next, result) = try await run(stage, fill)
                #expect((next.filled, next.doubtful) == (0, 2), "\(result)")
            }
        }

        @Test func `undo takes the last run back and leaves a file that was changed`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let mine = stage.folder + "/music/Id/With an Id/cover.jpg"
                try Data("mine".utf8).write(to: URL(filePath: mine))
                let gone = stage.folder + "/music/The Harbour Lights/Low Tide/cover.jpg"
                try FileManager.default.removeItem(atPath: gone)
                let undone = try await stage.run("fill", "undo")
                #expect(undone.status == 0 && undone.stderr.contains("\(gone): was gone already"), "\(undone)")
                #expect(undone.stderr.contains("\(mine): was changed since; it stays as it is"), "\(undone)")
                #expect(pictures(stage) == ["Id/With an Id/cover.jpg": Array("mine".utf8)])
                // Of what is changed the library has no cover any more: the next fill looks again.
                let library = try String(contentsOfFile: stage.folder + "/albums.json", encoding: .utf8)
                #expect(library.components(separatedBy: "coverUrl").count == 2, "\(library)")
            }
        }

        @Test func `undo is about the last fill, and takes no folders`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let files = pictures(stage)
                for words in [[stage.folder + "/music"], ["--upgrade"]] {
                    let result = try await SleeveStage.run(["fill", "undo"] + words, environment: stage.environment)
                    #expect(result.status == 64, "\(result)")
                }
                #expect(pictures(stage) == files)
            }
        }

        @Test func `the copy of an album that gets no cover is named beside the one that gets it`() async throws {
            try await withMusic(albums: Array(Self.albums.prefix(1))) { stage, fill in
                let (folder, report) = ("The Harbour Lights/Low Tide", stage.folder + "/report")
                let copy = "\(stage.folder)/music/Portable/Low Tide"
                try FileManager.default.createDirectory(
                    atPath: "\(stage.folder)/music/Portable", withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: "\(stage.folder)/music/\(folder)", toPath: copy)
                _ = try await run(stage, ["fill", stage.folder + "/music/Portable"] + fill.dropFirst(2))
                let (summary, _) = try await run(stage, fill + ["--upgrade", "--report", report])
                #expect(summary.files == 1)
                let told = try stage.text(of: report).split(separator: "\n")
                #expect(told.count == 2 && told.contains { $0.contains(copy) && $0.contains("\"covered\"") }, "\(told)")
                // So does one whose cover a person has removed.
                try FileManager.default.removeItem(atPath: copy + "/cover.jpg")
                _ = try await run(stage, fill)
                #expect(try await stage.run("fill", "undo").status == 0)
                _ = try await run(stage, fill + ["--report", report])
                let left = try stage.text(of: report).split(separator: "\n")
                #expect(left.count == 2 && left.contains { $0.contains(copy) && $0.contains("you removed") }, "\(left)")
            }
        }

        @Test func `a quiet fill that finds nothing new says nothing and is no failure`() async throws {
            try await withMusic { stage, fill in
                let quiet = ["fill"] + fill.dropFirst().filter { $0 != "--json" } + ["--quiet"]
                let first = try await SleeveStage.run(quiet, environment: stage.environment)
                #expect(
                    first.status == 3 && first.stderr.contains("None, Nowhere (2001): none of the sources"), "\(first)")
                #expect(first.stdout.isEmpty && !first.stderr.contains("wrote"), "\(first)")
                let second = try await SleeveStage.run(quiet, environment: stage.environment)
                #expect(second.status == 0 && second.stderr.isEmpty && second.stdout.isEmpty, "\(second)")
                // An album that is gone is news, once, and no fault.
                try FileManager.default.removeItem(atPath: stage.folder + "/music/Id")
                for count in [1, 0] {
                    let gone = try await SleeveStage.run(quiet, environment: stage.environment)
                    #expect(gone.status == 0 && gone.stderr.components(separatedBy: "gone: Id").count == count + 1)
                }
                let loud = try await SleeveStage.run(Array(quiet.dropLast()), environment: stage.environment)
                #expect(!loud.stderr.contains("Nowhere") && !loud.stderr.contains("gone:"), "\(loud)")
                #expect(loud.stderr.contains("as said before: 2 albums; --report FILE lists all"), "\(loud)")
                // Without folders, those that were scanned; what is new there is said, and nothing else.
                try MusicFile.write(
                    stage.folder + "/music/New/1.mp3", MusicTags(album: "Unheard", albumArtist: "New", track: 1))
                let third = try await SleeveStage.run(
                    quiet.filter { $0 != stage.folder + "/music" }, environment: stage.environment)
                #expect(third.status == 3 && third.stderr.split(separator: "\n").count == 1, "\(third)")
                #expect(third.stderr.contains("Unheard"), "\(third)")
            }
        }

        @Test func `a fill by hand writes again what an undo took back, and says so; a quiet one does not`()
            async throws
        {
            try await withMusic(albums: [Self.albums[0]]) { stage, fill in
                #expect(try await run(stage, fill).0.files == 1)
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(try await run(stage, fill + ["--quiet"]).0.files == 0)
                let (again, result) = try await run(stage, fill)
                #expect(again.files == 1, "\(result)")
                #expect(result.stderr.contains("(iTunes), which an undo had taken back"), "\(result)")
            }
        }

        @Test func `a fill without folders is one of all scanned ones, with the last fill's options`() async throws {
            try await withMusic { stage, fill in
                let folder = stage.folder + "/music/The Harbour Lights"
                let first = fill.map { $0 == stage.folder + "/music" ? folder : $0 } + ["--name", "folder"]
                #expect(try await run(stage, first).0.files == 1)
                _ = try await stage.run("album", "scan", stage.folder + "/music/Id")
                #expect(try await run(stage, ["fill", "--json"]).0.files == 1)
                let files = ["Id/With an Id/folder.jpg", "The Harbour Lights/Low Tide/folder.jpg"]
                #expect(pictures(stage).keys.sorted() == files)
            }
        }

        @Test func `a dry run requests and writes nothing`() async throws {
            try await withMusic { stage, fill in
                let result = try await SleeveStage.run(fill + ["--dry-run"], environment: stage.environment)
                struct Plan: Decodable { var albums: Int, plan: [[String: String]] }
                let plan = try result.json(Plan.self)
                #expect(plan.albums == 5 && plan.plan.count == 5, "\(result)")
                let quiet = try await SleeveStage.run(
                    fill.filter { $0 != "--json" } + ["--dry-run", "-q"], environment: stage.environment)
                #expect(quiet.status == 0 && quiet.stdout.isEmpty && quiet.stderr.isEmpty, "\(quiet)")
                let missing = try await SleeveStage.run(
                    fill + ["--dry-run", stage.folder + "/none"], environment: stage.environment)
                #expect(missing.status == 3, "as without: \(missing)")
                #expect(pictures(stage).isEmpty)
                let why = try await stage.run("why", "Nowhere", "--json")
                #expect(why.stdout.contains(#""sources":[]"#), "\(why)")
            }
        }

        @Test func `without a contact a dry run names no MusicBrainz, and asking it alone does nothing`() async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                try MusicFile.write(music + "/1.mp3")
                let named = try await stage.run("fill", music, "--source", "musicbrainz")
                #expect(named.status == 1 && named.stderr.contains("--contact"), "\(named)")
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/albums.json"))
                let plan = try await stage.run("fill", music, "--dry-run")
                #expect(plan.stdout.contains("would ask itunes, deezer\n"), "\(plan)")
                #expect(plan.stderr.contains("--contact"), "\(plan)")
                let contact = try await stage.run("fill", music, "--dry-run", "--contact", "me@example.org")
                #expect(contact.stdout.contains("would ask musicbrainz, itunes, deezer\n"), "\(contact)")
                _ = try await stage.run("fill", music, "--source", "tags", "--contact", "me@example.org")
                let next = try await stage.run("fill", "--dry-run", "--source", "musicbrainz")
                #expect(next.stdout.contains("would ask musicbrainz\n"), "with the last fill's contact: \(next)")
            }
        }

        @Test(.enabled(if: geteuid() != 0 || mayBeOther, "the superuser may write anywhere"))
        func `a folder that takes no file is said, and the others are filled`() async throws {
            try await withMusic { stage, fill in
                let folder = stage.folder + "/music/Id/With an Id"
                try #require(chmod(folder, 0o555) == 0)
                defer { chmod(folder, 0o755) }
                let run = try await stage.runAsUser(fill)
                let result: FillCounts = try run.json()
                #expect((result.filled, result.problems, result.unwritten) == (2, 1, 1), "\(run)")
                #expect(run.stderr.contains("With an Id (1999): no file can be written: Permission denied"), "\(run)")
            }
        }

        #if os(Linux)
            @Test
            func `killed before any operation on a file, a fill leaves no partial cover, and the next completes it`()
                async throws
            {
                try await withMusic { stage, fill in
                    _ = try await run(stage, fill)
                    var whole = pictures(stage)
                    #expect(try await stage.run("fill", "undo").status == 0)
                    #expect(pictures(stage).isEmpty)
                    let booklet = "None/Nowhere/booklet.jpg"
                    try Data("mine".utf8).write(to: URL(filePath: "\(stage.folder)/music/\(booklet)"))
                    whole[booklet] = Array("mine".utf8)
                    var (kills, number) = (0, 1)
                    while true {
                        let result = await (try stage.start(fill, disk: ["DISK_KILL": "\(number)"])).exit()
                        for (name, bytes) in pictures(stage) where !name.contains("/.sleeve-") {
                            #expect(bytes == whole[name], "\(name) after a kill before operation \(number)")
                        }
                        if result.signal != SIGKILL { break }
                        (kills, number) = (kills + 1, number + (isThorough ? 1 : 17))
                    }
                    #expect(kills > 2)
                    #expect(pictures(stage) == whole)
                    // What a killed fill has found reaches the library.
                    let library = try String(contentsOfFile: stage.folder + "/albums.json", encoding: .utf8)
                    #expect(library.components(separatedBy: "coverUrl").count == 4, "\(library)")
                    // A killed fill remembers what it has written.
                    for _ in 0...kills { _ = try await stage.run("fill", "undo") }
                    #expect(Array(pictures(stage).keys) == [booklet])
                }
            }
        #endif
    }
}
