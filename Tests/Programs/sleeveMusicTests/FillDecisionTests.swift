import CoverSources
import Foundation
import MusicFiles
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    /// What a person accepts of covers that were found.
    @Suite struct FillDecisionTests: FillSuite {
        /// The URL of the first doubtful cover.
        private func doubtfulURL(_ stage: Stage) async throws -> String {
            struct Line: Decodable { var url: String }
            let review = try await stage.run("fill", "review", "--json")
            let line = try #require(review.stdout.split(separator: "\n").first)
            return try JSONDecoder().decode(Line.self, from: Data(line.utf8)).url
        }

        @Test func `a doubtful cover whose address an album got is accepted, until that edit is undone`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let url = try await doubtfulURL(stage)
                #expect(try await stage.run("album", "edit", "Reissued", "--cover-url", url).status == 0)
                #expect(try await stage.run("fill", "review").stdout == "No doubtful covers.\n")
                #expect(try await stage.run("album", "undo").status == 0)
                #expect(try await stage.run("fill", "review").stdout.contains("Deezer: Someone, Reissued"))
                let (next, _) = try await run(stage, fill)
                #expect((next.filled, next.doubtful) == (0, 1))
            }
        }

        @Test func `after tags were corrected, doubtful covers are listed by the facts of the scan, without a request`()
            async throws
        {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                for date in ["", "2001"] {
                    try writeReissued(in: "Someone/Reissued", date: date, stage)
                    _ = try await stage.run("album", "scan", stage.folder + "/music")
                    let review = try await stage.run("fill", "review")
                    #expect(review.stdout.contains("Deezer: Someone, Reissued"), "\(date): \(review)")
                    let why = try await stage.run("why", "Reissued")
                    #expect(why.stdout.contains("1 doubtful of 1 album"), "\(why)")
                }
            }
        }

        @Test func `one doubtful cover is accepted by its album, and is no longer one`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                try FileManager.default.removeItem(atPath: "\(stage.folder)/music/Id/With an Id/cover.jpg")
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "--offline", "Someone - Reissued"] + fill.dropFirst(2),
                    environment: stage.environment)
                // The picture itself is requested: offline, it is not there.
                #expect(accepted.status == 3, "\(accepted)")
                let review = try await stage.run("fill", "review")
                #expect(review.stdout == "No doubtful covers.\n", "\(review)")
                // What is wrong elsewhere is no fault of this one.
                try Data("no sound".utf8).write(to: URL(filePath: "\(stage.folder)/music/None/Nowhere/3.mp3"))
                let (next, result) = try await run(stage, ["fill", "accept", "Reissued"] + fill.dropFirst(2))
                #expect(result.status == 0, "\(result)")
                #expect(
                    (next.albums, next.filled) == (1, 1), "without folders: those that were scanned; no other album")
                #expect(!result.stderr.contains("--contact"), "no service is asked")
                #expect(pictures(stage)["Someone/Reissued/cover.jpg"] != nil)
                #expect(pictures(stage)["Id/With an Id/cover.jpg"] == nil)
                let again = try await SleeveStage.run(
                    ["fill", "accept", "Reissued"] + fill.dropFirst(3), environment: stage.environment)
                let path = "\(stage.folder)/music/Someone/Reissued/cover.jpg"
                #expect(
                    again.status == 0
                        && again.stdout == "Someone, Reissued (2001) has the accepted cover already: \(path).\n",
                    "\(again)")
            }
        }

        /// What iTunes has of the album of which Deezer's cover is doubtful, with a larger picture.
        private func certain(tracks: Int) -> [ServiceAlbum] {
            Self.provided + [
                ServiceAlbum(
                    artist: "Someone", title: "Reissued", year: 2001, tracks: tracks, services: [.itunes],
                    largest: 3_000)
            ]
        }

        private func asking(_ sources: String, _ fill: [String]) -> [String] {
            fill.map { $0 == "caa,itunes,deezer" ? sources : $0 }
        }

        @Test func `an accepted cover replaces what a fill wrote, which undo puts back, and no file of a person`()
            async throws
        {
            try await withMusic(provided: certain(tracks: 2)) { stage, fill in
                _ = try await run(stage, asking("caa,deezer", fill))
                let url = try await doubtfulURL(stage)
                let file = "Someone/Reissued/cover.jpg"
                #expect(try await run(stage, asking("itunes", fill)).0.filled >= 1)
                let former = try #require(pictures(stage)[file])
                let accept = ["fill", "accept", "Reissued", url] + fill.dropFirst(2)
                let (counts, result) = try await run(stage, accept)
                #expect((counts.albums, counts.filled) == (1, 1), "\(result)")
                let accepted = try #require(pictures(stage)[file])
                #expect(accepted != former)
                #expect(try await stage.run("album", "show", "Reissued").stdout.contains(url))
                #expect(try await run(stage, fill).0.filled == 0)

                #expect(try await stage.run("fill", "undo").stdout == "1 cover put back.\n")
                #expect(pictures(stage)[file] == former)
                let path = "\(stage.folder)/music/\(file)"
                let shown = try await stage.run("album", "show", "Reissued")
                #expect(shown.stdout.contains(path) && !shown.stdout.contains(url), "\(shown)")

                let mine = MusicPicture.jpeg(300, 300, number: 7).bytes
                try Data(mine).write(to: URL(filePath: path))
                let refused = try await SleeveStage.run(accept, environment: stage.environment)
                #expect(refused.status == 3 && pictures(stage)[file] == mine, "\(refused)")
                #expect(
                    refused.stderr.contains("\(path) stays, as no fill wrote it, or it was changed since; remove"),
                    "\(refused)")
                try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                #expect(try await run(stage, accept).0.filled == 1)
                #expect(pictures(stage)[file] == accepted)
            }
        }

        @Test
        func `an accepted cover replaces the file of each disc's folder; one that was changed stays, and is named`()
            async throws
        {
            try await withMusic(albums: [], provided: certain(tracks: 4)) { stage, fill in
                let files = ["Someone/CD1/cover.jpg", "Someone/CD2/cover.jpg"]
                for disc in 1...2 {
                    try MusicFile.writeSongs(
                        2, in: "\(stage.folder)/music/Someone/CD\(disc)",
                        MusicTags(album: "Reissued", albumArtist: "Someone", artist: "Someone", date: "2001"))
                }
                _ = try await run(stage, asking("deezer", fill))
                let url = try await doubtfulURL(stage)
                #expect(try await run(stage, asking("itunes", fill)).0.files == 2)
                let former = try #require(pictures(stage)[files[0]])
                let accept = ["fill", "accept", url] + fill.dropFirst(2)
                let (counts, result) = try await run(stage, accept)
                #expect((counts.albums, counts.files) == (1, 2), "\(result)")
                let accepted = files.map { pictures(stage)[$0] }
                #expect(accepted[0] != former && accepted[0] == accepted[1])
                let mine = MusicPicture.jpeg(300, 300, number: 7).bytes
                try Data(mine).write(to: URL(filePath: "\(stage.folder)/music/\(files[1])"))
                let again = try await SleeveStage.run(accept, environment: stage.environment)
                #expect(again.status == 3, "\(again)")
                #expect(
                    again.stderr.contains("\(files[1]) stays, as no fill wrote it, or it was changed since"), "\(again)"
                )
                #expect(pictures(stage)[files[1]] == mine)
                #expect(try await stage.run("fill", "undo").stdout == "1 cover put back.\n")
                #expect(pictures(stage) == [files[0]: former, files[1]: mine])
            }
        }

        @Test func `an album stands for the cover that review lists, a URL for any`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let url = try await doubtfulURL(stage)
                #expect(try await stage.run("fill", "refuse", "Reissued").status == 0)
                let files = pictures(stage)
                for name in ["Reissued", "Low Tide"] {
                    let result = try await SleeveStage.run(
                        ["fill", "accept", name] + fill.dropFirst(3), environment: stage.environment)
                    #expect(
                        result.status == 1 && result.stderr.contains(", \(name) (")
                            && result.stderr.contains("; name one by its URL"), "\(result)")
                }
                #expect(pictures(stage) == files)
                #expect(try await run(stage, ["fill", "accept", url] + fill.dropFirst(2)).0.filled == 1)
            }
        }

        @Test func `undo after an acceptance for which nothing was written withdraws that alone`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let files = pictures(stage)
                let offline = ["fill", "accept", "--offline", "Reissued"] + fill.dropFirst(3)
                for _ in 0..<2 {
                    #expect(try await SleeveStage.run(offline, environment: stage.environment).status == 3)
                }
                let plan = try await stage.run("fill", "undo", "--dry-run", "--json")
                #expect(plan.stdout.contains("\"withdrawn\":1"), "\(plan)")
                let undone = try await stage.run("fill", "undo")
                #expect(undone.stdout == "1 accepted cover is doubtful again; no file was changed.\n", "\(undone)")
                #expect(pictures(stage) == files)
                #expect(try await stage.run("fill", "review").stdout.contains("Someone, Reissued"))
                #expect(try await stage.run("fill", "undo").stdout == "3 covers taken back.\n")
            }
        }

        /// Two albums, each with a doubtful cover.
        private static let doubtful = ["Reissued", "Returned"]

        private func withTwoDoubtful(
            _ body: (_ stage: Stage, _ accept: (_ options: [String]) async throws -> RunResult) async throws -> Void
        ) async throws {
            let provided = Self.doubtful.map {
                ServiceAlbum(artist: "Someone", title: $0, year: 2020, tracks: 44, services: [.deezer])
            }
            try await withMusic(albums: Self.doubtful.map { ("Someone", $0, "2001", "") }, provided: provided) {
                stage, fill in
                #expect(try await run(stage, fill).0.doubtful == 2)
                try await body(stage) { options in
                    try await SleeveStage.run(
                        ["fill", "accept"] + options + fill.dropFirst(3), environment: stage.environment)
                }
            }
        }

        @Test func `one undo takes back all that one command accepted, written or not`() async throws {
            try await withTwoDoubtful { stage, accept in
                let mine = stage.folder + "/music/Someone/Returned/cover.jpg"
                try Data(MusicPicture.jpeg(300, 300, number: 7).bytes).write(to: URL(filePath: mine))
                let files = pictures(stage)
                let accepted = try await accept(Self.doubtful)
                #expect(accepted.status == 3 && accepted.stderr.contains("\(mine) stays"), "\(accepted)")
                #expect(pictures(stage).count == 2)
                let plan = try await stage.run("fill", "undo", "--dry-run")
                #expect(
                    plan.stdout.hasSuffix(
                        "1 cover would be taken back.\n1 accepted cover would be doubtful again.\n"), "\(plan)")
                let undone = try await stage.run("fill", "undo")
                #expect(undone.stdout == "1 cover taken back.\n1 accepted cover is doubtful again.\n", "\(undone)")
                #expect(pictures(stage) == files)
                let review = try await stage.run("fill", "review")
                #expect(Self.doubtful.allSatisfy { review.stdout.contains($0) }, "\(review)")
                #expect(try await stage.run("fill", "undo").stdout == "There is no fill to take back.\n")
            }
        }

        @Test func `undo of a command leaves what an earlier one accepted`() async throws {
            try await withTwoDoubtful { stage, accept in
                #expect(try await accept(["--offline", Self.doubtful[0]]).status == 3)
                #expect(try await accept([Self.doubtful[1]]).status == 0)
                #expect(try await stage.run("fill", "undo").stdout == "1 cover taken back.\n")
                let review = try await stage.run("fill", "review")
                #expect(Self.doubtful.map { review.stdout.contains($0) } == [false, true], "\(review)")
                #expect(try await stage.run("fill", "undo").stdout.hasPrefix("1 accepted cover is doubtful again"))
            }
        }

        private func writeReissued(in folder: String, date: String, _ stage: Stage) throws {
            try MusicFile.writeSongs(
                2, in: "\(stage.folder)/music/\(folder)",
                MusicTags(album: "Reissued", albumArtist: "Someone", artist: "Someone", date: date))
        }

        @Test func `an acceptance stays when a tagger adds the year, and when a fill that wrote the cover is undone`()
            async throws
        {
            try await withMusic(albums: []) { stage, fill in
                try writeReissued(in: "One", date: "", stage)
                #expect(try await run(stage, fill).0.doubtful == 1)
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "--offline", "Reissued"] + fill.dropFirst(3), environment: stage.environment)
                #expect(accepted.status == 3 && pictures(stage).isEmpty, "\(accepted)")
                try writeReissued(in: "One", date: "2001", stage)
                for _ in 0..<2 {
                    #expect(try await run(stage, fill).0.filled == 1)
                    #expect(try await stage.run("fill", "undo").stdout == "1 cover taken back.\n")
                }
                let allowed = try await stage.run("fill", "allow", "Reissued")
                #expect(allowed.status == 0 && allowed.stderr.contains("allowed 1 cover"), "\(allowed)")
                #expect(try await run(stage, fill).0.doubtful == 1 && pictures(stage).isEmpty)
                #expect(try await stage.run("fill", "undo").stdout == "There is no fill to take back.\n")
            }
        }

        @Test func `a URL that was offered to two albums is decided about beside one of them`() async throws {
            try await withMusic(albums: []) { stage, fill in
                try writeReissued(in: "One", date: "2001", stage)
                try writeReissued(in: "Other", date: "2003", stage)
                #expect(try await run(stage, fill).0.doubtful == 2)
                let url = try await doubtfulURL(stage)
                for command in ["accept", "refuse"] {
                    let both = try await stage.run("fill", command, url)
                    #expect(both.status == 64 && both.stderr.contains("\(stage.folder)/music/Other"), "\(both)")
                }
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "1", url] + fill.dropFirst(3), environment: stage.environment)
                #expect(accepted.status == 0 && pictures(stage).count == 1, "\(accepted)")
                #expect(try await run(stage, fill).0.doubtful == 1 && pictures(stage).count == 1)
                #expect(try await stage.run("fill", "refuse", "2").status == 0)
                let review = try await stage.run("fill", "review", "--refused")
                #expect(review.stdout.contains("2. Someone, Reissued") && !review.stdout.contains("1. "), "\(review)")
            }
        }

        @Test func `an accepted cover of an album behind a link is written, as the last fill has followed it`()
            async throws
        {
            try await withMusic(albums: []) { stage, fill in
                try writeReissued(in: "../elsewhere", date: "2001", stage)
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/music", withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(
                    atPath: stage.folder + "/music/Link", withDestinationPath: stage.folder + "/elsewhere")
                #expect(try await run(stage, fill + ["--follow"]).0.doubtful == 1)
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "Reissued"] + fill.dropFirst(3), environment: stage.environment)
                #expect(accepted.status == 0, "\(accepted)")
                #expect(FileManager.default.fileExists(atPath: stage.folder + "/elsewhere/cover.jpg"))
            }
        }

        @Test func `an accepted cover is written as the last fill wrote the others`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill + ["--name", "folder", "--size", "50"])
                _ = try await run(stage, ["fill", "accept", "Reissued"] + fill.dropFirst(2))
                let cover = try #require(pictures(stage)["Someone/Reissued/folder.jpg"])
                _ = try await run(stage, ["fill", "accept", "Reissued", "--size", "40"] + fill.dropFirst(2))
                #expect(try #require(pictures(stage)["Someone/Reissued/folder.jpg"]) != cover)
            }
        }

        @Test func `undo says so if nothing was taken back`() async throws {
            try await withMusic(albums: [Self.albums[0]]) { stage, fill in
                _ = try await run(stage, fill)
                let path = "\(stage.folder)/music/The Harbour Lights/Low Tide/cover.jpg"
                try Data(MusicPicture.jpeg(300, 300, number: 7).bytes).write(to: URL(filePath: path))
                let plan = try await stage.run("fill", "undo", "--dry-run")
                #expect(plan.stdout == "Nothing would be taken back; 1 file stays.\n", "\(plan)")
                let undone = try await stage.run("fill", "undo")
                #expect(undone.stdout == "Nothing was taken back; 1 file stays.\n", "\(undone)")
            }
        }

        @Test func `a cover that was changed is the person's after undo`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let path = "\(stage.folder)/music/The Harbour Lights/Low Tide/cover.jpg"
                let mine = MusicPicture.jpeg(300, 300, number: 7).bytes
                try Data(mine).write(to: URL(filePath: path))
                let undone = try await stage.run("fill", "undo")
                #expect(undone.stderr.contains("\(path): was changed since; it stays as it is"), "\(undone)")
                for name in ["Low Tide", stage.folder + "/music/The Harbour Lights"] {
                    let why = try await stage.run("why", name)
                    #expect(why.stdout.contains("Cover file: \(path), yours; no fill replaces it\n"), "\(why)")
                }
                let got = stage.folder + "/got.jpg"
                #expect(try await stage.run("get", "--album", "Low Tide", "-o", got).status == 0)
                #expect(FileManager.default.contents(atPath: got) == Data(mine))
            }
        }

        @Test func `an album is named by its folder, also by the bare name of that`() async throws {
            try await withMusic(albums: [Self.albums[0]]) { stage, fill in
                _ = try await run(stage, fill)
                let why = try await stage.shell("cd \"$1\" && \"$SLEEVE\" why music", stage.folder)
                #expect(why.status == 0 && why.stdout.contains("Low Tide (1971)"), "\(why)")
                // The addresses that were never requested say nothing one by one.
                #expect(why.stdout.contains(" more addresses of the covers above: nothing"), "\(why)")
                #expect(try await stage.run("album", "edit", stage.folder + "/music", "--genre", "Jazz").status == 0)
            }
        }

        @Test func `a URL beside its album means that cover; nothing is decided if one of them is unknown`()
            async throws
        {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let url = try await doubtfulURL(stage)
                let unknown = try await stage.run("fill", "refuse", "Reissued", "Nobody's")
                #expect(unknown.status == 1 && unknown.stderr.contains("Nobody's"), "\(unknown)")
                #expect(try await stage.run("fill", "review").stdout.contains("Someone, Reissued"))
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", "Reissued", url] + fill.dropFirst(2), environment: stage.environment)
                #expect(accepted.status == 0, "\(accepted)")
                #expect(accepted.stderr.components(separatedBy: "accepted 1 cover").count == 2, "\(accepted)")
            }
        }

        @Test func `undo takes back that a cover was accepted, and a dry run of it says what it would remove`()
            async throws
        {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let filled = pictures(stage)
                _ = try await run(stage, ["fill", "accept", "Reissued"] + fill.dropFirst(2))
                let files = pictures(stage)
                let plan = try await stage.run("fill", "undo", "--dry-run")
                let path = "\(stage.folder)/music/Someone/Reissued/cover.jpg"
                #expect(plan.stdout == "\(path): would be removed\n1 cover would be taken back.\n", "\(plan)")
                let json = try await stage.run("fill", "undo", "--dry-run", "--json")
                #expect(json.stdout.contains("\"files\":[\"\(path)\"]"), "\(json)")
                #expect(pictures(stage) == files && files.count == filled.count + 1)
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(pictures(stage) == filled)
                let (next, _) = try await run(stage, fill)
                #expect((next.filled, next.doubtful) == (0, 1))
            }
        }

        @Test func `a cover that was accepted is written, even if its service is not asked`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let accept = ["fill", "accept", "Reissued", "--json", "--source", "caa"]
                #expect(try await run(stage, accept).0.filled == 1)
                #expect(pictures(stage)["Someone/Reissued/cover.jpg"] != nil)
            }
        }

        @Test func `an album is named as review prints it, by number if two have one name`() async throws {
            let albums = [("Someone", "Reissued", "2001", ""), ("Someone", "Reissued", "2003", "")]
            try await withMusic(albums: albums) { stage, fill in
                for (number, year) in ["2001", "2003"].enumerated() {
                    try MusicFile.writeSongs(
                        2, in: "\(stage.folder)/music/Someone/\(number)",
                        MusicTags(album: "Reissued", albumArtist: "Someone", artist: "Someone", date: year))
                }
                try FileManager.default.removeItem(atPath: stage.folder + "/music/Someone/Reissued")
                _ = try await run(stage, fill)
                let review = try await stage.run("fill", "review")
                let names = review.stdout.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
                #expect(names.count == 2, "\(review)")
                for name in names + [names[0].components(separatedBy: " (")[0], "1", "Someone, Reissued (2003)"] {
                    #expect(try await stage.run("why", name).status == 0, "\(name)")
                }
                let accepted = try await SleeveStage.run(
                    ["fill", "accept", names[1]] + fill.dropFirst(2), environment: stage.environment)
                #expect(accepted.status == 0 && pictures(stage).count == 1, "\(accepted)")
            }
        }

        @Test func `a number of review is that of one album and picture, whatever becomes of the others`() async throws
        {
            try await withMusic(albums: []) { stage, fill in
                for (name, year) in [("One", "2001"), ("Two", "2003")] {
                    try writeReissued(in: name, date: year, stage)
                }
                #expect(try await run(stage, fill).0.doubtful == 2)
                #expect(try await stage.run("album", "delete", "1").status == 0)
                try writeReissued(in: "Three", date: "2005", stage)
                #expect(try await run(stage, fill).0.doubtful == 2)
                let review = try await stage.run("fill", "review")
                #expect(
                    review.stdout.matches(of: #/(?m)^\d\. .*\)/#).map { String($0.output) }
                        == ["2. Someone, Reissued (2003)", "3. Someone, Reissued (2005)"], "\(review)")
                let gone = try await stage.run("fill", "accept", "1")
                #expect(gone.status != 0 && pictures(stage).isEmpty, "\(gone)")
                #expect(
                    try await SleeveStage.run(
                        ["fill", "accept", "2"] + fill.dropFirst(2), environment: stage.environment
                    ).status == 0)
                #expect(Array(pictures(stage).keys) == ["Two/cover.jpg"])
                let why = try await stage.run("why", "3")
                #expect(why.stdout.contains("2005"), "\(why)")
            }
        }
    }
}
