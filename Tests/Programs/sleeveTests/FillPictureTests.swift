import CoverSources
import Foundation
import ImageHeader
import MusicFiles
import OriginServer
import Testing

extension CommandTests {
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
                let result = try await sleeveTests.run(fill, environment: stage.environment)
                #expect(result.status == 0 && result.stderr.contains("cover.jpg (its tags)"), "\(result)")
                #expect(FileManager.default.contents(atPath: folder + "/cover.jpg") == Data(picture.bytes))
                let why = try await stage.run("why", "Low Tide", "--json")
                #expect(why.stdout.contains(#""sources":[]"#), "\(why)")
                #expect(try await stage.run("fill", "undo").status == 0)
                #expect(try covers(folder).isEmpty)
            }
        }

        @Test func `pictures that differ from song to song are none, and tags can be left out`() async throws {
            let (one, two) = (MusicPicture.jpeg(600, 600, number: 4), MusicPicture.jpeg(600, 600, number: 5))
            try await withAlbum([[one], [two]]) { stage, fill, _ in
                let result = try await sleeveTests.run(
                    fill + ["--source", "tags", "--source", "itunes"], environment: stage.environment)
                #expect(result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
            }
            try await withAlbum([[one], [one]]) { stage, fill, _ in
                let result = try await sleeveTests.run(fill + ["--source", "itunes"], environment: stage.environment)
                #expect(result.stderr.contains("cover.jpg (iTunes)"), "\(result)")
            }
        }

        @Test func `covers with fewer pixels than wanted are not taken from any source, and the reason is said`()
            async throws
        {
            let small = MusicPicture.jpeg(300, 300, number: 4)
            try await withAlbum([[small], [small]]) { stage, fill, folder in
                let large = try await sleeveTests.run(fill + ["--min-pixels", "2000"], environment: stage.environment)
                #expect(large.stderr.contains("only covers with a side of fewer than 2000 pixels"), "\(large)")
                #expect(try covers(folder).isEmpty)
            }
        }

        @Test func `covers are written no larger than wanted`() async throws {
            try await withAlbum([[], []]) { stage, fill, folder in
                let result = try await sleeveTests.run(
                    fill + ["--source", "itunes", "--size", "40"], environment: stage.environment)
                #expect(result.status == 0, "\(result)")
                let bytes = try #require(FileManager.default.contents(atPath: folder + "/cover.jpg"))
                let header = try #require(bytes.withUnsafeBytes { ImageHeader($0) })
                #expect(max(header.width ?? 0, header.height ?? 0) <= 40 && header.mediaType == "image/jpeg")
            }
        }
    }
}
