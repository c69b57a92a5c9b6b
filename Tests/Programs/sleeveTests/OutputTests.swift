import Foundation
import MusicFiles
import SleeveStage
import Testing

@testable import sleeve

/// The tables of the article Output: who prints an object, its members, and those that may be left out.
struct OutputArticle {
    private struct Row {
        var names, members, others: Set<String>

        func allows(_ found: Set<String>) -> Bool {
            members.isSubset(of: found) && found.isSubset(of: members.union(others))
        }
    }

    private static let rows: [Row] = {
        let article = repository.appending(path: "Sources/Covers/CoverLibrary/CoverLibrary.docc/Output.md")
        let lines = ((try? String(contentsOf: article, encoding: .utf8)) ?? "").split(separator: "\n")
        return lines.map { $0.split(separator: "|") }.filter { $0.count == 3 }.map { cells in
            let words = cells.map { cell in Set(cell.matches(of: #/`([^`]+)`/#).map { String($0.1) }) }
            return Row(names: words[0], members: words[1], others: words[2].filter { !$0.hasPrefix("-") })
        }
    }()

    /// What the article does not say of an object: the object's path, and its members.
    /// - Parameter name: Of its command, of the lines, or of the member that has it.
    static func problems(_ object: [String: Any], of name: String) -> [String] {
        let found = Set(object.keys)
        let isAllowed = rows.contains { $0.names.contains(name) && $0.allows(found) }
        let own = isAllowed ? [] : ["\(name): \(found.sorted())"]
        return object.reduce(into: own) { problems, member in
            // The article Measuring has these.
            if ["results", "comparisons", "timings"].contains(member.key) { return }
            let values = member.value as? [[String: Any]] ?? (member.value as? [String: Any]).map { [$0] } ?? []
            problems += values.flatMap { self.problems($0, of: member.key) }
        }
    }

    /// The same of a command's result.
    static func problems(_ result: RunResult, of command: String) throws -> [String] {
        let json = try JSONSerialization.jsonObject(with: Data(result.stdout.utf8))
        var object = try #require(json as? [String: Any], "\(result)")
        let (schema, _) = (object.removeValue(forKey: "schema"), object.removeValue(forKey: "command"))
        return (schema as? Int == 1 ? [] : ["schema"]) + problems(object, of: command)
    }
}

extension CommandTests {
    @Suite struct OutputTests {
        private func withAlbums(_ body: (Stage, _ music: String) async throws -> Void) async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                try MusicFile.write("\(music)/Low Tide/1.mp3", MusicTags(album: "Low Tide", artist: "A", track: 1))
                _ = try stage.file("albums.json", "[{\"title\": \"A\", \"coverUrl\": \"\(stage.urls(0..<1)[0])\"}]")
                try await body(stage, music)
            }
        }

        private func words(_ command: String) -> [String] { command.split(separator: " ").map(String.init) }

        @Test func `what a command prints with --json is what the article says`() async throws {
            try await withAlbums { stage, music in
                let (folder, url) = (stage.folder, stage.urls(0..<1)[0])
                let list = try stage.list(stage.urls(0..<3) + stage.urls(5..<6, "status=404"))
                let runs: [(String, [String])] = [
                    ("prefetch", [list]), ("prefetch", [list, "--sizes", "150"]),
                    ("refresh", ["--all"]),
                    ("get", [url, "-o", folder + "/cover.jpg"]), ("get", [url, "--path"]),
                    ("export", [folder + "/out"]), ("export", [folder + "/out", "--size", "300", "--dry-run"]),
                    ("album show", ["1"]), ("album add", ["--title", "B", "--cover-url", "http://a/1"]),
                    ("album show", ["B"]), ("album edit", ["B", "--year", "1971"]),
                    ("album delete", ["B"]), ("album undo", []), ("album redo", []),
                    ("album import", [folder + "/albums.json"]),
                    ("album remote", []), ("album remote", ["http://127.0.0.1:1"]), ("album remote", ["--none"]),
                    ("album scan", [music]), ("fill", [music, "--offline", "--dry-run"]),
                    ("fill", [music, "--offline", "--dry-run", "--embed"]), ("fill", [music, "--offline"]),
                    ("fill", [music, "--offline", "--embed"]), ("fill undo", ["--dry-run"]), ("fill undo", []),
                    ("why", [url]), ("why", ["A"]), ("why", [stage.urls(5..<6, "status=404")[0]]),
                    ("cache stats", []), ("cache verify", []), ("cache verify", ["--repair"]),
                    ("cache pin", [url]), ("cache unpin", [url]), ("cache remove", [url, "--dry-run"]),
                    ("cache pack", [folder + "/covers.tar"]), ("cache unpack", [folder + "/covers.tar"]),
                    ("cache evict", ["--to", "0"]),
                ]
                for (command, options) in runs {
                    let arguments = words(command) + options + ["--json"]
                    let result = try await run(arguments, environment: stage.environment)
                    try #require([0, 3].contains(result.status), "\(arguments): \(result)")
                    #expect(result.stdout.contains("\"command\":\"\(words(command).joined(separator: " "))\""))
                    let problems = try OutputArticle.problems(result, of: command)
                    #expect(problems.isEmpty, "\(arguments): \(problems)")
                }
                let bench = ["bench", "--covers", "2", "--rounds", "1", "--folder", folder, "--json"]
                let result = try await run(bench, environment: stage.environment)
                #expect(try OutputArticle.problems(result, of: "bench").isEmpty, "\(result)")
            }
        }

        @Test func `the lines of a stream are what the article says`() async throws {
            try await withAlbums { stage, music in
                let report = stage.folder + "/report.jsonl"
                let list = try stage.list(stage.urls(0..<2) + stage.urls(5..<6, "status=404"))
                _ = try await stage.run("prefetch", list, "--report", report)
                func check(_ name: String, _ text: String) throws {
                    try #require(!text.isEmpty)
                    for line in text.split(separator: "\n") {
                        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                        #expect(OutputArticle.problems(try #require(object), of: name).isEmpty, "\(name): \(line)")
                    }
                }
                try check("--report", try stage.text(of: report))
                _ = try await stage.run("fill", music, "--offline", "--report", report)
                try check("--report", try stage.text(of: report))
                for (command, options) in [("cache list", []), ("album list", []), ("audit", [music])] {
                    let result = try await run(words(command) + options + ["--json"], environment: stage.environment)
                    try check(command, result.stdout)
                }
            }
        }

        @Test(
            .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "needs util-linux"),
            arguments: [("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false)])
        func `what failed is red, and warnings are yellow, on a terminal that shows colours`(
            environment: String, isColored: Bool
        ) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<1, "status=404"))
                let result = try await stage.shell(
                    "export \(environment) LIST=\"$1\"; script -qec '\"$SLEEVE\" prefetch \"$LIST\"' /dev/null", list)
                let (red, yellow) = ("\u{1B}[31m1 failed\u{1B}[0m", "\u{1B}[33msleeve: \u{1B}[0mhttp")
                #expect(result.status == 3 && result.stdout.contains("1 failed"), "\(result)")
                #expect([red, yellow].allSatisfy { result.stdout.contains($0) == isColored }, "\(result)")
                #expect(result.stdout.contains("\u{1B}") == (environment != "TERM=dumb"), "\(result)")
                let piped = try await stage.shell("export \(environment); \"$SLEEVE\" prefetch \"$1\" 2>&1", list)
                #expect(!piped.stdout.contains("\u{1B}"), "\(piped)")
            }
        }

        @Test(arguments: [("cache list", ""), ("prefetch", "\"$1\"")])
        func `a command whose reader has enough ends as SIGPIPE ends others`(
            command: String, input: String
        ) async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<2)
                try await stage.fill(urls)
                let words = words(command).joined(separator: " ")
                // The reader has closed the pipe before the command starts.
                let result = try await stage.shell(
                    """
                    mkfifo "$2" && { read _ <"$2"; "$SLEEVE" \(words) \(input) --json; echo "ended with $?" >&2; } |
                        { exec <&-; echo >"$2"; }
                    """, try stage.list(urls), stage.folder + "/fifo")
                #expect(result.stderr == "ended with 141\n", "\(result)")
            }
        }
    }
}
