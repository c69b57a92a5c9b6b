import Foundation
import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    /// Files that options name: what is there and is not of their kind was named by mistake.
    @Suite struct OutputFileTests {
        #if os(Linux)
            @Test func `a picture that another program has open for writing is left to it`() async throws {
                try await withStage { stage in
                    let picture = stage.folder + "/cover.jpg"
                    let bytes = Data(CoverImage.jpeg(number: 2))
                    try bytes.write(to: URL(filePath: picture))
                    let writer = try FileHandle(forWritingTo: URL(filePath: picture))
                    #expect(try await stage.run("get", stage.origin.coverURL(1), "-o", picture).status == 1)
                    #expect(FileManager.default.contents(atPath: picture) == bytes)
                    try writer.close()
                    #expect(try await stage.run("get", stage.origin.coverURL(1), "-o", picture).status == 0)
                }
            }
        #endif

        @Test func `nothing that a person names is written over Sleeve's own files`() async throws {
            try await withStage { stage in
                try await stage.fill([stage.origin.coverURL(1)])
                #expect(try await stage.run("album", "add", "--title", "A").status == 0)
                let link = stage.folder + "/link"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "albums.json")
                try FileManager.default.createSymbolicLink(
                    atPath: stage.folder + "/places", withDestinationPath: stage.cache)
                // No command of the test names this one.
                try FileManager.default.copyItem(atPath: stage.cache, toPath: stage.folder + "/other")
                let own = [
                    "albums.json", "link", "albums.json.state/journal.sqlite3", "cache/index.sqlite3",
                    "other/entries.jsonl",
                ]
                let files =
                    own + [
                        "places/entries.jsonl", "other/covers/ab/new", "cache/covers/new.jpg", "albums.json.state/new",
                    ]
                let before = own.map { FileManager.default.contents(atPath: "\(stage.folder)/\($0)") }
                for file in files.map({ "\(stage.folder)/\($0)" }) {
                    for command in [
                        ["get", stage.origin.coverURL(1), "-o", file], ["cache", "pack", file],
                        ["prefetch", "--report", file],
                        ["refresh", "--metrics-file", file],
                        ["fill", stage.folder, "--offline", "--report", file],
                    ] {
                        let refused = try await SleeveStage.run(command, environment: stage.environment)
                        #expect(
                            refused.status == 1 && refused.stderr.contains("choose another file"),
                            "\(command): \(refused)")
                    }
                }
                #expect(own.map { FileManager.default.contents(atPath: "\(stage.folder)/\($0)") } == before)
                for file in files.suffix(2) {
                    #expect(!FileManager.default.fileExists(atPath: "\(stage.folder)/\(file)"))
                }
            }
        }

        @Test func `a pack replaces what it has written and an empty file, and no other file`() async throws {
            try await withStage { stage in
                try await stage.fill([stage.origin.coverURL(1)])
                let file = "\(stage.folder)/x.tar"
                func write() async throws -> RunResult { try await stage.run("cache", "pack", file) }
                for text in ["ID3\u{4}", "https://a.example/1.jpg\n", "title,artist\nA,B\n"] {
                    try Data(text.utf8).write(to: URL(filePath: file))
                    let refused = try await write()
                    #expect(refused.status == 1 && refused.stderr.contains("it stays"), "\(refused)")
                    #expect(try stage.text(of: file) == text)
                }
                try Data().write(to: URL(filePath: file))
                for _ in 0..<2 { #expect(try await write().status == 0) }
            }
        }

        @Test func `metrics go into metrics and an empty file, and no other file`() async throws {
            try await withStage { stage in
                for text in ["Dear\n", "name = 1\n", "a,b\n1,2\n", "# a\n\nx{a=\"b\"}\n", "\u{FFFD}"] {
                    let file = try stage.file("file", text)
                    let refused = try await stage.run("refresh", "--metrics-file", file)
                    #expect(refused.status == 1 && refused.stderr.contains("it stays"), "\(refused)")
                    #expect(try stage.text(of: file) == text)
                }
                for text in ["", "# HELP a b\na{b=\"c } d\"} 1.5e3\n\nb:c NaN 1700000000000\nd +Inf\n"] {
                    let file = try stage.file("file", text)
                    #expect(try await stage.run("refresh", "--metrics-file", file).status == 0)
                    #expect(try stage.text(of: file).hasPrefix(text) && stage.text(of: file).contains("sleeve_"))
                }
            }
        }

        @Test(arguments: ["fill", "prefetch"])
        func `a report replaces a report and an empty file, and no other file`(_ command: String) async throws {
            try await withStage { stage in
                let (notes, report) = (stage.folder + "/notes.jsonl", stage.folder + "/report.jsonl")
                let list = try stage.list([stage.origin.coverURL(1)], name: "list.txt")
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/music", withIntermediateDirectories: false)
                func run(_ file: String) async throws -> RunResult {
                    let input = command == "fill" ? [stage.folder + "/music", "--offline"] : [list]
                    return try await SleeveStage.run(
                        [command] + input + ["--report", file], environment: stage.environment)
                }
                for text in ["Dear", "{\"url\":\"https://a.example/1\"}\n"] {
                    try Data(text.utf8).write(to: URL(filePath: notes))
                    let refused = try await run(notes)
                    #expect(refused.status == 1 && refused.stderr.contains("it stays"), "\(refused)")
                    #expect(try stage.text(of: notes) == text)
                }
                let former = "{\"url\":\"https://a.example/1\",\"outcome\":\"fresh\"}\n"
                for text in ["", former] {
                    try Data(text.utf8).write(to: URL(filePath: report))
                    #expect(try await run(report).status == 0)
                    #expect(try !stage.text(of: report).contains("a.example"))
                }
                #expect(try await run("/dev/null").status == 0)
            }
        }
    }
}
