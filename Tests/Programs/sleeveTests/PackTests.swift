import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    @Suite struct PackTests {
        private struct PackLine: Decodable {
            var covers, bytes, packBytes, failed: Int
            var seconds: Double
        }
        private struct UnpackLine: Decodable {
            var stored, deduplicated, kept, failed, bytes: Int
        }

        /// Another cache in the same folder.
        private func other(_ stage: Stage) -> [String] { ["--cache", stage.folder + "/other"] }

        private func run(_ stage: Stage, _ arguments: [String]) async throws -> RunResult {
            try await SleeveStage.run(arguments, environment: stage.environment)
        }

        @Test func `an unpacked cache lists the same covers, and returns them offline`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<20) + stage.urls(20..<23, "same=7")
                try await stage.fill(urls)
                let file = stage.folder + "/covers.pack"
                let packed: PackLine = try await stage.run("cache", "pack", file, "--json").json()
                #expect(packed.covers == 23 && packed.failed == 0)
                #expect(packed.packBytes == (try Data(contentsOf: URL(filePath: file))).count)
                #expect(packed.packBytes > packed.bytes && packed.packBytes < packed.bytes + 23 * 1_600)

                let unpacked: UnpackLine = try await run(stage, ["cache", "unpack", file, "--json"] + other(stage))
                    .json()
                #expect(unpacked.stored == 23 && unpacked.deduplicated == 2 && unpacked.failed == 0)
                let lists = try await [
                    stage.run("cache", "list", "--json").stdout,
                    run(stage, ["cache", "list", "--json"] + other(stage)).stdout,
                ]
                #expect(lists[0].split(separator: "\n").sorted() == lists[1].split(separator: "\n").sorted())
                let before = stage.origin.requestCount
                let cover = try await run(stage, ["get", urls[3]] + other(stage))
                #expect(cover.output == CoverImage.jpeg(number: 3, aboutBytes: 4_000))
                #expect(stage.origin.requestCount == before)
                #expect(try await run(stage, ["cache", "verify"] + other(stage)).status == 0)

                let again: UnpackLine = try await run(stage, ["cache", "unpack", file, "--json"] + other(stage)).json()
                #expect(again.stored == 0 && again.kept == 23)
            }
        }

        @Test func `a pack restores covers whose files are gone`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<4) + stage.urls(4..<8, "same=7"))
                let file = stage.folder + "/covers.pack"
                #expect(try await stage.run("cache", "pack", file).status == 0)
                for path in stage.coverFiles() { try FileManager.default.removeItem(atPath: path) }
                let unpacked: UnpackLine = try await stage.run("cache", "unpack", file, "--json").json()
                #expect(unpacked.stored == 8 && unpacked.kept == 0)
                #expect(try await stage.run("cache", "verify").status == 0)
                try FileManager.default.removeItem(atPath: stage.cache + "/index.sqlite3")
                #expect(try await stage.run("cache", "list", "--json").stdout.split(separator: "\n").count == 8)
            }
        }

        @Test func `a pack can be selected, and goes through a pipe`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<6)
                try await stage.fill(urls)
                #expect(try await stage.run("cache", "pin", urls[0], urls[5]).status == 0)
                let result = try await stage.shell(
                    "$SLEEVE cache pack - --pinned --quiet | $SLEEVE cache unpack - --cache \"$1\" --json",
                    stage.folder + "/other")
                let line: UnpackLine = try result.json()
                #expect(line.stored == 2 && result.stderr.isEmpty, "\(result)")
                let file = stage.folder + "/one.pack"
                let one: PackLine = try await stage.run("cache", "pack", file, "--matching", "*/4.jpg*", "--json")
                    .json()
                #expect(one.covers == 1)
            }
        }

        @Test func `a cache without a cover makes an empty pack, which replaces a former one and can be unpacked`()
            async throws
        {
            try await withStage { stage in
                let (list, file) = (try stage.list(stage.urls(0..<3)), stage.folder + "/shard.pack")
                var counts: [Int] = []
                for shard in ["0/2", "1/2"] {
                    let options = ["--cache", "\(stage.folder)/\(shard.first!)"]
                    let fetched = try await run(stage, ["prefetch", list, "--shard", shard, "--quiet"] + options)
                    #expect(fetched.status == 0, "\(fetched)")
                    let packed = try await run(stage, ["cache", "pack", file, "--json"] + options)
                    #expect(packed.status == 0 && packed.stderr.isEmpty, "\(packed)")
                    let line: PackLine = try packed.json()
                    counts.append(line.covers)
                    #expect(line.packBytes == (try Data(contentsOf: URL(filePath: file))).count)
                    let into = ["--cache", "\(stage.folder)/of-\(shard.first!)"]
                    let unpacked: UnpackLine = try await run(stage, ["cache", "unpack", file, "--json"] + into).json()
                    #expect(unpacked.stored == line.covers && unpacked.failed == 0)
                    let verified = try await run(stage, ["cache", "verify"] + into)
                    #expect(verified.status == 0, "\(verified)")
                    let again = try await run(stage, ["cache", "pack", file, "--json"] + into)
                    #expect(try again.status == 0 && (again.json() as PackLine).covers == line.covers, "\(again)")
                }
                #expect(counts.sorted() == [0, 3])
            }
        }

        @Test func `where nothing is selected, the file stays as it is`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<2))
                let file = stage.folder + "/covers.pack"
                #expect(try await stage.run("cache", "pack", file).status == 0)
                let before = try Data(contentsOf: URL(filePath: file))
                for selection in [["--host", "other.example"], ["--matching", "*/none"], ["--pinned"]] {
                    let result = try await run(stage, ["cache", "pack", file] + selection)
                    #expect(result.status == 3 && result.stderr.contains("no cached cover is selected"), "\(result)")
                }
                #expect(try Data(contentsOf: URL(filePath: file)) == before)
            }
        }

        @Test func `a damaged cover is named, the rest is stored, and the exit code is 3`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<5)
                try await stage.fill(urls)
                let file = stage.folder + "/covers.pack"
                #expect(try await stage.run("cache", "pack", file).status == 0)
                var bytes = try Data(contentsOf: URL(filePath: file))
                let cover = Data(CoverImage.jpeg(number: 2, aboutBytes: 4_000))
                bytes[try #require(bytes.range(of: cover)).lowerBound + 1_000] ^= 1
                try bytes.write(to: URL(filePath: file))
                let dry = try await run(stage, ["cache", "unpack", file, "--dry-run"] + other(stage))
                #expect(dry.status == 3 && dry.stdout.hasPrefix("Verified, would store 4 covers"), "\(dry)")
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/other"))
                let result = try await run(stage, ["cache", "unpack", file, "--json"] + other(stage))
                #expect(result.status == 3, "\(result)")
                #expect(
                    result.stderr.contains(urls[2]) && result.stderr.contains("do not match their digest"), "\(result)")
                let line: UnpackLine = try result.json()
                #expect(line.stored == 4 && line.failed == 1)

                try bytes.prefix(bytes.count - 1_100).write(to: URL(filePath: file))
                let short = try await run(stage, ["cache", "unpack", file] + other(stage))
                #expect(short.status == 3 && short.stderr.contains("ends early"), "\(short)")
            }
        }

        @Test func `a newer cover in the cache is kept, an older one is replaced`() async throws {
            try await withStage { stage in
                let url = stage.urls(0..<1)[0]
                let file = stage.folder + "/covers.pack"
                try await stage.fill([url])
                #expect(try await stage.run("cache", "pack", file).status == 0)
                #expect(try await stage.run("refresh", "--all", "--quiet").status == 0)
                let older: UnpackLine = try await stage.run("cache", "unpack", file, "--json").json()
                #expect(older.kept == 1 && older.stored == 0)
                #expect(try await run(stage, ["cache", "unpack", file] + other(stage)).status == 0)
                #expect(try await stage.run("cache", "pack", file).status == 0)
                let newer: UnpackLine = try await run(stage, ["cache", "unpack", file, "--json"] + other(stage)).json()
                #expect(newer.stored == 1 && newer.kept == 0)
            }
        }

        @Test func `a file that is no pack is refused, and a pack that cannot be written leaves nothing`() async throws
        {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<2))
                let list = try stage.list(["http://a.example/1"])
                let result = try await run(stage, ["cache", "unpack", list] + other(stage))
                #expect(result.status == 1 && result.stderr.contains("is not a pack"), "\(result)")
                let new = stage.folder + "/new"
                let piped = try await SleeveStage.run(
                    ["cache", "unpack", "-", "--cache", new], stdin: .text("Dear\n"), environment: stage.environment)
                #expect(piped.status == 1 && piped.stderr.contains("is not a pack"), "\(piped)")
                #expect(!FileManager.default.fileExists(atPath: new), "it leaves no cache behind")
                let missing = try await stage.run("cache", "unpack", stage.folder + "/missing")
                #expect(missing.status == 1 && missing.stderr.contains("No such file"), "\(missing)")
                let unwritable = try await stage.run("cache", "pack", stage.folder + "/no/such/folder/x")
                #expect(unwritable.status == 1 && unwritable.stderr.contains("cannot write"), "\(unwritable)")
                let full = try await stage.run("cache", "pack", "/dev/full")
                #expect(full.status == 1, "\(full)")
                let names = try FileManager.default.contentsOfDirectory(atPath: stage.folder)
                #expect(!names.contains { $0.hasSuffix(".part") })
            }
        }

        @Test func `covers of a pack that exceed the capacity are reported`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<20, "size=30000"))
                let file = stage.folder + "/covers.pack"
                #expect(try await stage.run("cache", "pack", file).status == 0)
                let result = try await run(stage, ["cache", "unpack", file, "--capacity", "200K"] + other(stage))
                #expect(result.status == 0 && result.stderr.contains("--capacity"), "\(result)")
            }
        }
    }
}
