import Foundation
import OriginServer
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

        @Test(arguments: ["fill", "prefetch"])
        func `a report replaces a report and an empty file, and no other file`(_ command: String) async throws {
            try await withStage { stage in
                let (notes, report) = (stage.folder + "/notes.jsonl", stage.folder + "/report.jsonl")
                let list = try stage.list([stage.origin.coverURL(1)], name: "list.txt")
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/music", withIntermediateDirectories: false)
                func run(_ file: String) async throws -> RunResult {
                    let input = command == "fill" ? [stage.folder + "/music", "--offline"] : [list]
                    return try await sleeveTests.run(
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
