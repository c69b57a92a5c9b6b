import CoverSources
import Foundation
import MusicFiles
import SleeveStage
import Testing

extension MusicTests {
    /// Covers whose only copy is the file that a fill wrote beside the music.
    @Suite struct WrittenCoverTests: FillSuite {
        /// Runs `body` after a fill has written the cover of `Low Tide`. Its service is gone then, and the cache is empty.
        private func withWrittenCover(
            _ body: (_ stage: Stage, _ path: String, _ cover: Data) async throws -> Void
        ) async throws {
            try await withStage { stage in
                let folder = stage.folder + "/music/Low Tide"
                try MusicFile.writeSongs(
                    2, in: folder,
                    MusicTags(
                        album: "Low Tide", albumArtist: "The Harbour Lights", artist: "The Harbour Lights", date: "1971"
                    ))
                _ = try await withServices(Self.provided) { services in
                    let fill = ["fill", stage.folder + "/music", "--json", "--source", "itunes"]
                    let (summary, _) = try await run(stage, fill + services.options([.itunes]))
                    #expect(summary.filled == 1)
                }
                #expect(try await stage.run("cache", "remove", "--album", "Low Tide").status == 0)
                let path = folder + "/cover.jpg"
                try await body(stage, path, try #require(FileManager.default.contents(atPath: path)))
            }
        }

        /// What each command gives or tells of the cover.
        private func shown(_ stage: Stage) async throws -> (got: Data?, exported: Data?, told: String) {
            let (file, out) = (stage.folder + "/got.jpg", stage.folder + "/out")
            defer { for path in [file, out] { try? FileManager.default.removeItem(atPath: path) } }
            _ = try await stage.run("get", "--retries", "0", "--album", "Low Tide", "-o", file)
            _ = try await stage.run("export", out, "--as", "{album}.jpg")
            let album = try await stage.run("album", "show", "Low Tide")
            let why = try await stage.run("why", "Low Tide")
            let told = why.stdout.split(separator: "\n").filter { $0.hasPrefix("Shown: ") }
            return (
                FileManager.default.contents(atPath: file), FileManager.default.contents(atPath: out + "/Low Tide.jpg"),
                album.stdout + told.joined(separator: "\n")
            )
        }

        @Test(arguments: ["dead", "none"])
        func `the file that a fill wrote stands in for an address`(_ address: String) async throws {
            try await withWrittenCover { stage, path, cover in
                if address == "none" {
                    #expect(try await stage.run("album", "edit", "Low Tide", "--cover-url", "").status == 0)
                }
                let shown = try await shown(stage)
                #expect(shown.got == cover && shown.exported == cover)
                #expect(shown.told.contains("File    \(path)\n") && shown.told.contains("Shown: \(path)"), "\(shown)")
                #expect(
                    try await stage.run("get", "--offline", "--path", "--album", "Low Tide").stdout == path + "\n")
                let small = stage.folder + "/small.jpg"
                let made = try await stage.run(
                    "get", "--offline", "--size", "100", "--album", "Low Tide", "--json", "-o", small)
                #expect(made.stdout.contains("\"width\":100"), "\(made)")
            }
        }

        @Test func `a file that was changed since, or is gone, does not stand in`() async throws {
            try await withWrittenCover { stage, path, cover in
                try (cover + Data("mine".utf8)).write(to: URL(filePath: path))
                for state in ["changed", "gone"] {
                    let shown = try await shown(stage)
                    #expect(shown.got == nil && shown.exported == nil, "\(state)")
                    #expect(shown.told.contains("not in the cache") && !shown.told.contains(path), "\(state): \(shown)")
                    try? FileManager.default.removeItem(atPath: path)
                }
            }
        }

        /// Runs `body` after a fill has written the covers of twelve albums, which were all removed since.
        private func withVanishedCovers(
            _ body: (_ stage: Stage, _ fill: [String], _ covers: () -> Int) async throws -> Void
        ) async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                for number in 1...12 {
                    let tags = MusicTags(
                        album: "Album \(number)", albumArtist: "Artist \(number)", artist: "Artist \(number)",
                        pictures: [MusicPicture.jpeg(600, 600, number: number)])
                    try MusicFile.writeSongs(2, in: "\(music)/\(number)", tags)
                }
                let paths = (1...12).map { "\(music)/\($0)/cover.jpg" }
                let covers = { paths.count { FileManager.default.fileExists(atPath: $0) } }
                let fill = ["fill", music, "--json", "--offline", "--source", "tags"]
                #expect(try await run(stage, fill).0.files == 12)
                for path in paths { try FileManager.default.removeItem(atPath: path) }
                let (counts, result) = try await run(stage, fill)
                #expect(counts.files == 0 && covers() == 0 && result.status == 3, "\(result)")
                #expect(result.stderr.contains("most covers of fills are gone, and are not written again"), "\(result)")
                try await body(stage, fill, covers)
            }
        }

        @Test func `covers that are gone, with most others, are written again once they are allowed`() async throws {
            try await withVanishedCovers { stage, fill, covers in
                let listed = try await stage.run("fill", "review", "--refused")
                #expect(listed.stdout.contains("gone: ") && !listed.stdout.contains("you removed"), "\(listed)")
                let allowed = try await stage.run("fill", "allow", "--all", stage.folder + "/music/1")
                #expect(allowed.stderr.contains("Artist 1, Album 1 (1971): allowed 1 cover"), "\(allowed)")
                #expect(try await run(stage, fill).0.files == 1)
                let one = try await stage.run("fill", "allow", stage.folder + "/music/2")
                #expect(one.stderr.contains("Artist 2, Album 2 (1971): allowed 1 cover"), "\(one)")
                #expect(try await run(stage, fill).0.files == 1)
                #expect(try await stage.run("fill", "allow", "--all", stage.folder + "/music").status == 0)
                #expect(try await run(stage, fill).0.files == 10)
                #expect(covers() == 12)
                let nothing = try await stage.run("fill", "allow", "--all", stage.folder + "/music")
                #expect(nothing.status == 1 && nothing.stderr.contains("no cover of an album in"), "\(nothing)")
            }
        }

        @Test func `covers that are gone are not written again once a person says that they were removed`() async throws
        {
            try await withVanishedCovers { stage, fill, covers in
                #expect(try await run(stage, fill + ["--removed"]).0.files == 0)
                let (counts, result) = try await run(stage, fill)
                #expect(counts.files == 0 && covers() == 0, "\(result)")
                #expect(!result.stderr.contains("most covers"), "\(result)")
                let listed = try await stage.run("fill", "review", "--refused")
                #expect(listed.stdout.contains("you removed") && !listed.stdout.contains("gone: "), "\(listed)")
            }
        }
    }
}
