import CoverLibrary
import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension CacheCommandTests {
    /// Smaller pictures by commands. The origin's covers of 120,000 bytes are JPEGs of 600 pixels.
    @Suite struct SizeCommandTests {
        private struct Picture: Decodable {
            var digest, type: String
            var width, height: Int
            var path: String?
        }

        private func url(_ stage: Stage, _ number: Int, bytes: Int = 120_000) -> String {
            "\(stage.origin.coverURL(number))?size=\(bytes)"
        }

        @Test func `get --size writes a smaller picture, and --path prints where it is kept`() async throws {
            try await withStage { stage in
                let file = stage.folder + "/small.jpg"
                let got = try await stage.run("get", url(stage, 1), "--size", "300", "-o", file, "--json")
                let picture: Picture = try got.json()
                #expect(
                    got.status == 0 && (picture.width, picture.height) == (300, 300) && picture.type == "image/jpeg")
                let kept = try await stage.run("get", url(stage, 1), "--size", "300", "--path", "--offline")
                let path = String(kept.stdout.dropLast())
                #expect(kept.status == 0 && path.hasPrefix(stage.cache + "/sizes/300/"), "\(kept)")
                #expect(FileManager.default.contents(atPath: path) == FileManager.default.contents(atPath: file))
                let small = try await stage.run("get", url(stage, 2, bytes: 4_000), "--size", "300", "--path")
                #expect(small.status == 0 && small.stdout.hasPrefix(stage.cache + "/covers/"), "\(small)")
                let odd = try await stage.run("get", url(stage, 1), "--size", "77", "-o", file, "--json", "--offline")
                #expect(try (odd.json() as Picture).width == 77)
                for wrong in [["--size", "0", "-o", file], ["--size", "299", "--path"]] {
                    let result = try await SleeveStage.run(
                        ["get", url(stage, 1)] + wrong, environment: stage.environment)
                    #expect(result.status == 64, "\(result)")
                }
            }
        }

        @Test func `prefetch --sizes makes sizes ahead, of covers that are cached already too`() async throws {
            try await withStage { stage in
                let urls = (0..<12).map { url(stage, $0) }
                try await stage.fill(Array(urls.prefix(4)))
                let list = try stage.list(urls, name: "sizes.txt")
                let made = try await stage.run("prefetch", list, "--sizes", "300,150")
                #expect(made.status == 0 && made.stdout.contains("24 smaller pictures made"), "\(made)")
                let again = try await stage.run("prefetch", list, "--sizes", "300,150", "--json")
                #expect(again.stdout.contains("\"sizes\":0"), "\(again)")
                for side in [300, 150] {
                    let files = try FileManager.default.subpathsOfDirectory(atPath: "\(stage.cache)/sizes/\(side)")
                    #expect(files.filter { $0.count > 64 }.count == 12)
                }
                let stats = try await stage.run("cache", "stats")
                #expect(stats.stdout.contains("of smaller pictures, at most a sixteenth of the capacity"))
                #expect(try await stage.run("cache", "verify").status == 0)
                let wrong = try await stage.run("prefetch", "--sizes", "300,301")
                #expect(wrong.status == 64 && wrong.stderr.contains("150, 300, 600, 1200"))
            }
        }

        private struct Exported: Decodable { var written, unchanged, failed, kept: Int }

        private func export(_ stage: Stage, _ options: String...) async throws -> (Exported, status: Int32) {
            let result = try await SleeveStage.run(
                ["export", stage.folder + "/out", "--json"] + options, environment: stage.environment)
            return (try result.json(), result.status)
        }

        /// The size of a JPEG: the frame of a baseline one is FF C0.
        private func baselineSize(_ path: String) throws -> Int {
            let bytes = Array(try #require(FileManager.default.contents(atPath: path)))
            let frame = try #require(bytes.firstRange(of: [0xFF, 0xC0]), "not a baseline JPEG")
            return Int(bytes[frame.lowerBound + 5]) << 8 | Int(bytes[frame.lowerBound + 6])
        }

        @Test func `export writes smaller pictures, once, and again if the size or the cover changes`() async throws {
            try await withStage { stage in
                let png = "\(stage.origin.url)/covers/2.png"
                let albums = [url(stage, 1), png].enumerated().map { index, url in
                    #"{"id": "id\#(index)", "title": "Album \#(index)", "artist": "Artist", "coverUrl": "\#(url)"}"#
                }
                _ = try stage.file("albums.json", "[\(albums.joined(separator: ","))]")
                try #require(try await stage.run("prefetch", "--quiet").status == 0)
                let paths = (0..<2).map { "\(stage.folder)/out/Artist/Album \($0)/cover.jpg" }
                let pattern = "{albumartist}/{album}/cover.jpg"
                let plan = try await stage.run(
                    "export", stage.folder + "/out", "--as", pattern, "--size", "300", "--dry-run",
                    "--json")
                #expect(plan.stdout.contains(#""written":2"#) && !plan.stdout.contains("bytes"), "\(plan)")
                let first = try await export(stage, "--as", pattern, "--size", "300")
                #expect(first.status == 0 && first.0.written == 2, "\(first)")
                #expect(try baselineSize(paths[0]) == 300 && baselineSize(paths[1]) == 32)
                let second = try await export(stage, "--as", pattern, "--size", "300")
                #expect(second.0.written == 0 && second.0.unchanged == 2, "\(second)")
                let larger = try await export(stage, "--as", pattern, "--size", "500")
                #expect(larger.0.written == 2, "\(larger)")
                #expect(try baselineSize(paths[0]) == 500)
                // Changed by a person: kept.
                try Data("mine".utf8).write(to: URL(filePath: paths[0]))
                let kept = try await export(stage, "--as", pattern, "--size", "500")
                #expect(kept.status == 3 && kept.0.kept == 1 && kept.0.unchanged == 1)
                let wrong = try await stage.run("export", stage.folder + "/out", "--size", "500", "--link")
                #expect(wrong.status == 64)
            }
        }

        /// `acTL` announces two frames. Whether they are there does not matter.
        private static func animatedPNG() -> [UInt8] {
            var bytes = Array(CoverImage.png(number: 1))
            // After the signature and IHDR.
            bytes.insert(
                contentsOf: [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 2, 0, 0, 0, 0, 0xF3, 0x8D, 0x93, 0x70], at: 33
            )
            return bytes
        }

        @Test func `an animation is exported as it is, whatever the size`() async throws {
            let animation = Self.animatedPNG()
            try await withScriptedServer({ _ in httpResponse("200 OK", [], animation) }) { server in
                try await withStage { stage in
                    let albums = #"[{"id": "i", "title": "T", "artist": "A", "coverUrl": "\#(server.url)/1.png"}]"#
                    _ = try stage.file("albums.json", albums)
                    try #require(try await stage.run("prefetch", "--quiet").status == 0)
                    let first = try await export(stage, "--size", "16")
                    #expect(first.status == 0 && first.0.written == 1, "\(first)")
                    #expect(
                        FileManager.default.contents(atPath: stage.folder + "/out/A/T/cover.png") == Data(animation))
                    let second = try await export(stage, "--size", "16")
                    #expect(second.0.unchanged == 1 && second.0.written == 0, "\(second)")
                    let typed = try await stage.run(
                        "export", stage.folder + "/jpegs", "--as", "{id}.jpg", "--size", "16")
                    #expect(typed.status == 3 && typed.stderr.contains("the cover is image/png"), "\(typed)")
                }
            }
        }
    }
}
