import CoverSources
import Foundation
import MusicFiles
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    /// Covers that a person has refused.
    @Suite struct FillRefusalTests: FillSuite {
        @Test func `a refused cover is not proposed again until that is wanted`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                let refused = try await stage.run("fill", "refuse", "Reissued")
                #expect(
                    refused.status == 0 && refused.stderr.contains("Reissued (2001): refused 1 cover"), "\(refused)")
                #expect(try await stage.run("fill", "review").stdout == "No doubtful covers.\n")
                let (second, result) = try await run(stage, fill)
                #expect((second.filled, second.missing, second.doubtful) == (0, 2, 0))
                #expect(result.stderr.contains("Someone, Reissued (2001): you refused its covers: "), "\(result)")
                #expect(!result.stderr.contains("None, Nowhere (2001): you refused"), "\(result)")
                let allowed = try await stage.run("fill", "allow", "Reissued")
                #expect(
                    allowed.status == 0 && allowed.stderr.contains("Reissued (2001): allowed 1 cover"), "\(allowed)")
                let (third, _) = try await run(stage, fill)
                #expect((third.missing, third.doubtful) == (1, 1))
                _ = try await stage.run("fill", "refuse", "Reissued")
                let why = try await stage.run("why", "Reissued")
                #expect(why.stdout.contains("refused by you") && why.stdout.contains("has no MusicBrainz id"), "\(why)")
                let unknown = try await stage.run("fill", "refuse", "Nowhere")
                #expect(unknown.status == 1 && unknown.stderr.contains("no doubtful or certain cover"), "\(unknown)")
            }
        }

        @Test func `a refusal of a certain match holds until it is withdrawn`() async throws {
            try await withMusic { stage, fill in
                _ = try await run(stage, fill)
                #expect(try await stage.run("fill", "undo").status == 0)
                for name in ["With an Id", "Low Tide"] {
                    let refused = try await stage.run("fill", "refuse", name)
                    #expect(refused.status == 0, "\(refused)")
                }
                let (second, result) = try await run(stage, fill)
                #expect((second.filled, second.missing) == (1, 3), "\(result)")
                let listed = try await stage.run("fill", "review", "--refused")
                #expect(listed.stdout.contains("Id, With an Id (1999)\n"), "\(listed)")
                #expect(listed.stdout.contains("The Harbour Lights, Low Tide (1971)\n"), "\(listed)")
                let url = try #require(listed.stdout.split(separator: "\n").first { $0.contains("/release/") })
                #expect(try await stage.run("fill", "allow", url.trimmingCharacters(in: .whitespaces)).status == 0)
                #expect(try await stage.run("fill", "allow", "Low Tide").status == 0)
                let (third, _) = try await run(stage, fill)
                #expect((third.filled, third.missing) == (2, 1))
            }
        }

        @Test func `a cover that was accepted is not called refused for the one that was in its place before`()
            async throws
        {
            let album = ServiceAlbum(
                artist: "The Harbour Lights", title: "Low Tide", year: 1971, tracks: 10, services: [.itunes, .deezer])
            try await withMusic(albums: [Self.albums[0]], provided: [album]) { stage, fill in
                #expect(try await run(stage, fill).0.filled == 1)
                #expect(try await stage.run("fill", "refuse", "Low Tide").status == 0)
                let refused = try await stage.run("why", "Low Tide")
                #expect(refused.stdout.contains("; you have refused it since it was written"), "\(refused)")
                let folder = "\(stage.folder)/music/The Harbour Lights/Low Tide"
                try FileManager.default.removeItem(atPath: folder + "/cover.jpg")
                _ = try await run(stage, fill)
                let listed = try await stage.run("fill", "review", "--refused")
                let url = try #require(listed.stdout.split(separator: "\n").last { $0.contains("://") }, "\(listed)")
                let accepted = try await stage.run("fill", "accept", url.trimmingCharacters(in: .whitespaces))
                #expect(FileManager.default.fileExists(atPath: folder + "/cover.jpg"), "\(accepted)")
                let why = try await stage.run("why", "Low Tide")
                #expect(!why.stdout.contains("refused it since"), "\(why)")
            }
        }

        @Test func `what was refused stays so when the tags change, and when either database is lost`()
            async throws
        {
            try await withMusic(albums: [Self.albums[0]]) { stage, fill in
                #expect(try await run(stage, fill).0.filled == 1)
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(try await stage.run("fill", "refuse", "1").status == 0)
                try MusicFile.writeSongs(
                    2, in: "\(stage.folder)/music/The Harbour Lights/Low Tide",
                    MusicTags(
                        album: "Low Tide", albumArtist: "The Harbour Lights", artist: "The Harbour Lights", date: ""))
                #expect(try await run(stage, fill).0.missing == 1)
                let library = try #require(stage.environment["SLEEVE_LIBRARY"])
                for name in ["sources", "music"] {
                    try FileManager.default.removeItem(atPath: "\(library).state/\(name).sqlite3")
                    #expect(try await run(stage, fill).0.missing == 1, "\(name)")
                }
                #expect(pictures(stage).isEmpty)
            }
        }

        /// `tags` is a picture in the songs, `own` one at an address that a person has given.
        @Test(arguments: ["tags", "own"])
        func `a picture without a service is refused by its bytes, until it is allowed`(_ place: String) async throws {
            try await withStage { stage in
                let folder = stage.folder + "/music/Low Tide"
                let pictures: [MusicPicture] = place == "tags" ? [.jpeg(600, 600, number: 4)] : []
                try MusicFile.writeSongs(
                    2, in: folder, MusicTags(album: "Low Tide", date: "1971", pictures: pictures))
                let fill = ["fill", stage.folder + "/music", "--source", "tags,caa", "--json"]
                if place == "own" {
                    #expect(try await stage.run("album", "scan", stage.folder + "/music").status == 0)
                    let url = stage.origin.coverURL(1)
                    #expect(try await stage.run("album", "edit", "1", "--cover-url", url).status == 0)
                }
                #expect(try await run(stage, fill).0.filled == 1)
                #expect(try await stage.run("fill", "undo").status == 0)
                let refused = try await stage.run("fill", "refuse", "Low Tide")
                #expect(refused.status == 0 && refused.stderr.contains("refused 1 cover"), "\(refused)")
                let (second, result) = try await run(stage, fill)
                #expect((second.filled, second.missing) == (0, 1) && result.stderr.contains("you refused its picture"))
                let listed = try await stage.run("fill", "review", "--refused")
                #expect(
                    listed.stdout.contains("picture: The Harbour Lights, Low Tide")
                        && listed.stdout.contains(place == "tags" ? "sha256:" : stage.origin.coverURL(1)), "\(listed)")
                #expect(try await stage.run("why", "Low Tide").stdout.contains("refused by you"))
                #expect(try await stage.run("fill", "allow", "Low Tide").status == 0)
                #expect(try await run(stage, fill).0.filled == 1)
            }
        }
    }
}
