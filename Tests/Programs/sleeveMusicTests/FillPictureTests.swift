import CoverSources
import Foundation
import ImageHeader
import MusicFiles
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    /// Which pictures a fill takes, and how it writes them.
    @Suite struct FillPictureTests {
        private static let album = ServiceAlbum(
            artist: "The Harbour Lights", title: "Low Tide", year: 1971, tracks: 2, services: [.itunes])

        /// A folder with an album of two songs.
        private func withAlbum(
            _ pictures: [[MusicPicture]], provided: [ServiceAlbum] = [album],
            _ body: (_ stage: Stage, _ fill: [String], _ folder: String) async throws -> Void
        ) async throws {
            try await withStage { stage in
                let folder = stage.folder + "/music/Low Tide"
                for (index, pictures) in pictures.enumerated() {
                    try MusicFile.write(
                        "\(folder)/\(index + 1).mp3",
                        MusicTags(
                            album: "Low Tide", albumArtist: "The Harbour Lights", artist: "The Harbour Lights",
                            date: "1971", track: index + 1, pictures: pictures))
                }
                _ = try await withServices(provided) { services in
                    try await body(
                        stage, ["fill", stage.folder + "/music"] + services.options([.caa, .itunes, .deezer]), folder)
                }
            }
        }

        private func covers(_ folder: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("cover") }
        }

        @Test func `a picture that all songs have is the cover, and no service is asked`() async throws {
            let picture = MusicPicture.jpeg(600, 600, number: 4)
            try await withAlbum([[picture], [picture]]) { stage, fill, folder in
                let result = try await SleeveStage.run(fill, environment: stage.environment)
                #expect(result.status == 0 && result.stderr.contains("cover.jpg (its tags)"), "\(result)")
                #expect(FileManager.default.contents(atPath: folder + "/cover.jpg") == Data(picture.bytes))
                let why = try await stage.run("why", "Low Tide", "--json")
                #expect(why.stdout.contains(#""sources":[]"#), "\(why)")
                // No scan has seen the file yet.
                let got = stage.folder + "/got.jpg"
                #expect(try await stage.run("get", "--album", "Low Tide", "-o", got).status == 0)
                #expect(FileManager.default.contents(atPath: got) == Data(picture.bytes))
                let places = [folder, folder + "/", folder + "/1.mp3", folder + "/cover.jpg", stage.folder + "/music"]
                for place in places {
                    let told = try await stage.run("why", place)
                    #expect(
                        told.stdout.contains("Cover file: \(folder)/cover.jpg, written by fill 1 from its tags\n"),
                        "\(told)")
                }
                let refused = try await stage.run("fill", "refuse", folder)
                #expect(
                    refused.stderr.contains("\(folder)/cover.jpg: stays; remove it")
                        && refused.stderr.contains("`sleeve fill undo`"), "\(refused)")
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(try covers(folder).isEmpty)
                #expect(try !stage.text(of: stage.folder + "/albums.json").contains("coverFile"))
                let nowhere = try await stage.run("why", stage.folder)
                #expect(nowhere.status == 0, "the only album below it: \(nowhere)")
                let none = try await stage.run("why", "/proc/self")
                #expect(none.status == 1 && none.stderr.contains("no album of the library is in"), "\(none)")
            }
        }

        @Test func `a compilation in its artists' folders gets the picture in its tags in each of them`() async throws {
            let picture = MusicPicture.jpeg(600, 600, number: 4)
            try await withStage { stage in
                let folders = (1...8).map { "\(stage.folder)/music/Singer \($0)/Summer Tide" }
                for (number, folder) in folders.enumerated() {
                    let singer = "Singer \(number + 1)"
                    try MusicFile.write(
                        "\(folder)/1.mp3",
                        MusicTags(album: "Summer Tide", albumArtist: "", artist: singer, pictures: [picture]))
                }
                let result = try await stage.run("fill", stage.folder + "/music", "--source", "tags")
                #expect(result.status == 0, "\(result)")
                for folder in folders { #expect(try covers(folder) == ["cover.jpg"]) }
                #expect(try await stage.run("audit", stage.folder + "/music").status == 0)
            }
        }

        @Test func `a cover that a fill wrote into the tags is not said to be from there`() async throws {
            try await withAlbum([[], []]) { stage, fill, folder in
                let result = try await SleeveStage.run(
                    fill + ["--source", "itunes", "--embed"], environment: stage.environment)
                #expect(result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
                #expect(try await stage.run("album", "scan", stage.folder + "/music").status == 0)
                let why = try await stage.run("why", "Low Tide")
                #expect(why.stdout.contains("Cover file: \(folder)/cover.jpg, written by fill 1\n"), "\(why)")
            }
        }

        @Test func `pictures that differ from song to song are none, and tags can be left out`() async throws {
            let (one, two) = (MusicPicture.jpeg(600, 600, number: 4), MusicPicture.jpeg(600, 600, number: 5))
            try await withAlbum([[one], [two]]) { stage, fill, _ in
                let result = try await SleeveStage.run(
                    fill + ["--source", "tags", "--source", "itunes"], environment: stage.environment)
                #expect(result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
            }
            try await withAlbum([[one], [one]]) { stage, fill, _ in
                let result = try await SleeveStage.run(fill + ["--source", "itunes"], environment: stage.environment)
                #expect(result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
            }
        }

        @Test func `covers with fewer pixels than wanted are not taken from any source, and the reason is said`()
            async throws
        {
            let small = MusicPicture.jpeg(300, 300, number: 4)
            try await withAlbum([[small], [small]]) { stage, fill, folder in
                let large = try await SleeveStage.run(fill + ["--min-pixels", "2000"], environment: stage.environment)
                #expect(large.stderr.contains("only covers with a side of fewer than 2000 pixels"), "\(large)")
                #expect(try covers(folder).isEmpty)
            }
        }

        @Test(arguments: [("JXL", [0xFF, 0x0A, 0x7F, 0x40]), ("TIFF", Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0])])
        func `a picture of a type that players do not show is not written, and the reason is said`(
            type: String, bytes: [UInt8]
        ) async throws {
            let picture = MusicPicture(bytes: bytes + [UInt8](repeating: 0, count: 20), width: 0, height: 0)
            try await withAlbum([[picture], [picture]], provided: []) { stage, fill, folder in
                let result = try await SleeveStage.run(fill, environment: stage.environment)
                let reason = "the picture in its tags is \(type), which players do not show beside music"
                #expect(result.status == 3 && result.stderr.contains(reason), "\(result)")
                #expect(try covers(folder).isEmpty)
            }
        }

        /// The songs' tags have a small rendition of the cover that iTunes has, whose year is another one.
        @Test(arguments: [0, 1])
        func `a doubtful cover is written if its picture is the one in the tags`(_ number: Int) async throws {
            var album = Self.album
            album.year = 1975
            let bytes = album.picture(number, "tags", side: 200)
            let header = try #require(bytes.withUnsafeBytes { ImageHeader($0) })
            let picture = MusicPicture(bytes: bytes, width: header.width ?? 0, height: header.height ?? 0)
            try await withAlbum([[picture], [picture]], provided: [album]) { stage, fill, folder in
                let result = try await SleeveStage.run(fill + ["--source", "itunes"], environment: stage.environment)
                let why = try await stage.run("why", "Low Tide")
                if number == 0 {
                    #expect(result.status == 0 && result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
                    #expect(why.stdout.contains("cover.jpg, written by fill 1"), "\(why)")
                } else {
                    #expect(try result.status == 3 && covers(folder).isEmpty, "\(result)")
                    #expect(try await stage.run("fill", "review").stdout.contains("1975 where yours is of 1971"))
                }
            }
        }

        @Test func `covers are written no larger than wanted`() async throws {
            try await withAlbum([[], []]) { stage, fill, folder in
                let result = try await SleeveStage.run(
                    fill + ["--source", "itunes", "--size", "40"], environment: stage.environment)
                #expect(result.status == 0, "\(result)")
                let bytes = try #require(FileManager.default.contents(atPath: folder + "/cover.jpg"))
                let header = try #require(bytes.withUnsafeBytes { ImageHeader($0) })
                #expect(max(header.width ?? 0, header.height ?? 0) <= 40 && header.mediaType == "image/jpeg")
            }
        }
    }
}
