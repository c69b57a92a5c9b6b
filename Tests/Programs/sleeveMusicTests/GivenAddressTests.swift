import Foundation
import MusicFiles
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    /// An address that a person gives an album is an acceptance, which the next command writes down.
    @Suite struct GivenAddressTests: FillSuite {
        private static let file = "The Harbour Lights/Low Tide/cover.jpg"
        private static let title = "Low Tide"

        /// One album that iTunes has.
        private func withAlbum(_ body: (_ stage: Stage, _ fill: [String]) async throws -> Void) async throws {
            try await withMusic(albums: [Self.albums[0]], body)
        }

        private func give(_ url: String, _ stage: Stage) async throws {
            #expect(try await stage.run("album", "edit", Self.title, "--cover-url", url).status == 0)
        }

        @Test func `it replaces the cover of a fill, in the tags, too, and is replaced by what is accepted later`()
            async throws
        {
            try await withAlbum { stage, fill in
                let fill = fill + ["--embed"]
                let song = "\(stage.folder)/music/The Harbour Lights/Low Tide/1.mp3"
                #expect(try await run(stage, fill).0.filled == 1)
                let found = try #require(pictures(stage)[Self.file])
                let offered = try #require(
                    try await stage.run("why", Self.title).stdout.firstMatch(of: #/http\S+\.jpg\S*/#)?.output)
                try await give(stage.origin.coverURL(1), stage)
                let review = try await stage.run("fill", "review")
                #expect(review.stdout == "No doubtful covers.\n")
                let plan = try await SleeveStage.run(
                    fill.filter { $0 != "--json" } + ["--dry-run"], environment: stage.environment)
                #expect(plan.stdout.contains("would download \(stage.origin.coverURL(1))"), "\(plan)")
                #expect(try await run(stage, fill).0.filled == 1)
                let given = try #require(pictures(stage)[Self.file])
                #expect(given != found)
                #expect(try Data(contentsOf: URL(filePath: song)).range(of: Data(given)) != nil)
                #expect(try await run(stage, fill).0.filled == 0)
                #expect(pictures(stage)[Self.file] == given)

                // An acceptance that is newer than the address, which no fill has seen.
                try await give(stage.origin.coverURL(2), stage)
                let accepted = try await stage.run("fill", "accept", String(offered), "--embed")
                #expect(accepted.status == 0, "\(accepted)")
                #expect(pictures(stage)[Self.file] == found)
                #expect(try await run(stage, fill).0.filled == 0)
                #expect(pictures(stage)[Self.file] == found)
                #expect(try await stage.run("album", "show", Self.title).stdout.contains(offered))
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(pictures(stage)[Self.file] == given)
                let shown = try await stage.run("album", "show", Self.title)
                #expect(shown.stdout.contains(stage.origin.coverURL(2)), "\(shown)")
            }
        }

        /// A fill has added the album, and found a cover for it.
        @Test(arguments: [
            ("The Harbour Lights,low tide,1971", 0, 1), ("Harbour Lights,Low Tide [FLAC],", 0, 1),
            ("The Harbour Lights,Low Tide,1999", 1, 0), ("Paper Suns,Low Tide,1971", 1, 0),
        ])
        func `a list gives its addresses to the albums that are there, by artist, title and year`(
            album: String, added: Int, completed: Int
        ) async throws {
            struct Result: Decodable { let imported, completed, known, skipped: Int }
            try await withAlbum { stage, fill in
                #expect(try await run(stage, fill).0.filled == 1)
                let list = try stage.file(
                    "list.csv", "Artist,Album,Year,Cover URL\n\(album),\(stage.origin.coverURL(1))\n")
                let first = try await stage.run("album", "import", list, "--json")
                let result = try JSONDecoder().decode(Result.self, from: Data(first.stdout.utf8))
                #expect(result.imported == added && result.completed == completed, "\(first)")
                let again = try await stage.run("album", "import", list)
                #expect(again.stdout == "Imported 0 albums, 1 already in the library\n", "\(again)")
                let found = pictures(stage)[Self.file]
                #expect(try await run(stage, fill).0.filled == completed)
                #expect((pictures(stage)[Self.file] != found) == (completed == 1))
                // A person's address stays, whatever another list says.
                let other = try stage.file(
                    "other.csv", "Artist,Album,Year,Cover URL\n\(album),\(stage.origin.coverURL(2))\n")
                #expect(try await stage.run("album", "import", other).stdout.contains("1 already"), "\(album)")
                #expect(try await stage.run("album", "undo").status == 0)
            }
        }

        @Test func `until something is there, what services have is written; one that is taken away counts no longer`()
            async throws
        {
            try await withAlbum { stage, fill in
                #expect(try await stage.run("album", "scan", stage.folder + "/music").status == 0)
                try await give(stage.origin.url + "/nothing", stage)
                let (first, told) = try await run(stage, fill)
                #expect(
                    first.filled == 1
                        && told.stderr.contains("Low Tide (1971): not written: \(stage.origin.url)/nothing"), "\(told)")
                let found = try #require(pictures(stage)[Self.file])
                let (again, _) = try await run(stage, fill)
                #expect((again.filled, again.missing) == (0, 0) && pictures(stage)[Self.file] == found)
                try await give(stage.origin.coverURL(1), stage)
                #expect(try await run(stage, fill).0.filled == 1)
                let given = pictures(stage)[Self.file]
                #expect(given != found)
                try await give("", stage)
                try MusicFile.writeSongs(
                    2, in: stage.folder + "/music/copy",
                    MusicTags(
                        album: Self.title, albumArtist: "The Harbour Lights", artist: "The Harbour Lights", date: "1971"
                    ))
                #expect(try await run(stage, fill).0.filled == 1)
                #expect(pictures(stage)["copy/cover.jpg"] == found && pictures(stage)[Self.file] == found)
            }
        }

        @Test func `an undo of the library brings back what was accepted before, and nothing that was refused`()
            async throws
        {
            try await withAlbum { stage, fill in
                let (first, second) = (stage.origin.coverURL(1), stage.origin.coverURL(2))
                #expect(try await run(stage, fill).0.filled == 1)
                let found = try #require(pictures(stage)[Self.file])
                let offered = try #require(
                    try await stage.run("why", Self.title).stdout.firstMatch(of: #/http\S+\.jpg\S*/#)?.output)
                #expect(try await stage.run("fill", "accept", String(offered)).status == 0)
                try await give(first, stage)
                #expect(try await run(stage, fill).0.filled == 1 && pictures(stage)[Self.file] != found)
                #expect(try await stage.run("album", "undo").status == 0)
                #expect(try await run(stage, fill).0.filled == 1 && pictures(stage)[Self.file] == found)
                let why = try await stage.run("why", Self.title)
                #expect(why.stdout.contains("accepted by you"), "\(why)")

                try await give(first, stage)
                #expect(try await run(stage, fill).0.filled == 1)
                let refused = pictures(stage)[Self.file]
                #expect(try await stage.run("fill", "refuse", first).status == 0)
                try await give(second, stage)
                #expect(try await run(stage, fill).0.filled == 1 && pictures(stage)[Self.file] != refused)
                #expect(try await stage.run("album", "undo").status == 0)
                _ = try await run(stage, fill)
                #expect(pictures(stage)[Self.file] != refused)
                #expect(try await stage.run("fill", "review", "--refused").stdout.contains(first))
            }
        }
    }
}
