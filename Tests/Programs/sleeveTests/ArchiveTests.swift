import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    /// Covers by MusicBrainz ids, from an origin with the Cover Art Archive's API.
    @Suite struct ArchiveTests {
        private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

        @Test(arguments: [
            ("250", "front-250"), ("1200", "front-1200"), ("full", "front"),
        ])
        func `prefetch downloads an album's cover from --cover-art-archive in the size of --size`(
            size: String, image: String
        ) async throws {
            try await withStage { stage in
                let list = try stage.file("albums.csv", "title,MUSICBRAINZ_ALBUMID\nT,\(Self.id)\n")
                let archive = "http://127.0.0.1:\(stage.origin.port)"
                let result = try await stage.run("prefetch", list, "--cover-art-archive", archive, "--size", size)
                #expect(result.status == 0, "\(result)")
                let entries = try await stage.entries()
                #expect(entries.map(\.url) == ["\(archive)/release/\(Self.id)/\(image)"])
            }
        }

        @Test(arguments: [true, false])
        func `what looks covers up by their albums knows the archive's server`(isOption: Bool) async throws {
            try await withStage { stage in
                _ = try stage.file(
                    "albums.json", "[{\"id\": \"a\", \"title\": \"T\", \"musicBrainzReleaseId\": \"\(Self.id)\"}]")
                let archive = "http://127.0.0.1:\(stage.origin.port)"
                let options = isOption ? ["--cover-art-archive", archive] : []
                let environment =
                    isOption
                    ? stage.environment : stage.environment.merging(["SLEEVE_SOURCE_BASE": "caa=\(archive)"]) { $1 }
                for (arguments, part) in [
                    (["prefetch"], "1 cover"), (["cache", "pin", "--album", "a"], "Pinned 1 URL"),
                    (["cache", "unpin", "--album", "a"], "Unpinned 1 URL"),
                    (["export", stage.folder + "/out"], "Wrote 1 cover"),
                    (["cache", "remove", "--album", "a"], "Removed 1"),
                ] {
                    let result = try await run(arguments + options, environment: environment)
                    #expect(result.status == 0 && result.stdout.contains(part), "\(arguments): \(result)")
                }
            }
        }

        @Test func `an unknown size is wrong usage, and an invalid archive URL cannot run`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<1))
                let size = try await stage.run("prefetch", list, "--size", "600")
                #expect(size.status == 64 && size.stderr.contains("250, 500, 1200, full"), "\(size)")
                let place = try await stage.run("prefetch", list, "--cover-art-archive", "nowhere")
                #expect(place.status == 1 && place.stderr.contains("Cover Art Archive"), "\(place)")
            }
        }
    }
}
