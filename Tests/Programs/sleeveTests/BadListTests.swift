import Foundation
import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct BadListTests {
        @Test func `a missing list is named, and the other lists are downloaded`() async throws {
            try await withStage { stage in
                let missing = stage.folder + "/missing.json"
                let good = try stage.list(stage.urls(0..<2))
                let result = try await stage.run("prefetch", missing, good, "--json")
                #expect(result.status == 3)
                #expect(result.stderr.contains("\(missing): cannot be opened: No such file or directory"), "\(result)")
                #expect(try result.summary().downloaded == 2)
                let alone = try await stage.run("prefetch", missing)
                #expect(alone.status == 1 && alone.stdout.isEmpty, "\(alone)")
                #expect(alone.stderr == "sleeve: \(missing): cannot be opened: No such file or directory\n")
            }
        }

        @Test(arguments: ["cover.jpg", "."])
        func `a binary file and a directory are reported in one line, with the expected formats`(
            name: String
        ) async throws {
            try await withStage { stage in
                let path = stage.folder + "/" + name
                if name != "." { try Data(CoverImage.jpeg(number: 1)).write(to: URL(filePath: path)) }
                let result = try await stage.run("prefetch", path)
                #expect(result.status == 1 && result.stdout.isEmpty)
                let kind = name == "." ? "a directory" : "a binary file"
                let advice = name == "." ? "; `sleeve fill DIR` finds the covers of a music folder" : ""
                #expect(
                    result.stderr == """
                        sleeve: \(path): is \(kind); expected a list of albums (JSON, JSON lines, CSV, a beets library) or of URLs\(advice)

                        """)
            }
        }

        @Test func `a list without covers says that there is nothing to download`() async throws {
            try await withStage { stage in
                let result = try await stage.run("prefetch", try stage.file("albums.json", "[]"))
                #expect(
                    result.status == 0 && result.stdout == "Nothing to download: no covers are listed.\n", "\(result)")
                let json = try await stage.run("prefetch", stage.folder + "/albums.json", "--json")
                #expect(try json.summary().requested == 0)
            }
        }

        @Test func `a warning names the file and the line also in the second list`() async throws {
            try await withStage { stage in
                let first = try stage.list(stage.urls(0..<2), name: "first.txt")
                let second = try stage.list([stage.urls(2..<3)[0], "nonsense"], name: "second.txt")
                let third = try stage.file(
                    "third.jsonl", #"{"title": "A", "coverUrl": "ftp://a", "coverUrls": ["ftp://b"]}"# + "\n")
                let result = try await stage.run("prefetch", first, second, third)
                #expect(result.status == 3)
                let lines = result.stderr.split(separator: "\n").filter { !$0.contains("downloaded") }
                #expect(lines.count == 2)
                #expect(lines[0].hasPrefix("sleeve: \(second):2: nonsense: not a URL: "), "\(result)")
                #expect(lines[1].hasPrefix("sleeve: \(third):1: ftp://a: ftp:// is not supported"), "\(result)")
            }
        }

        /// A list with covers at URL0 and URL1, the line of its fault, what is said of it, and how many of the covers are read.
        struct BadList: Sendable {
            var name, text, line, reason: String
            var read = 2
        }

        /// A list is read up to what is no JSON.
        private static let malformed = [
            BadList(
                name: "x.json", text: #"[{"coverUrl": "URL0"},\n {"coverUrl": "URL1"},\n {"title" "C"}]"#,
                line: ":3:11: ", reason: "malformed JSON: "),
            BadList(name: "x.json", text: #"["URL0",\n"#, line: ":2:1: ", reason: "malformed JSON: ", read: 1),
        ]
        /// One line of a list is skipped.
        private static let skipping = [
            BadList(name: "x.jsonl", text: #""URL0"\n{oops}\n"URL1"\n"#, line: ":2:2: ", reason: "malformed JSON"),
            BadList(name: "x.json", text: #"["URL0",\n{"title": "Bare"},\n"URL1"]"#, line: ":2", reason: bare),
            BadList(name: "x.jsonl", text: #""URL0"\n{"title": "Bare"}\n"URL1"\n"#, line: ":2", reason: bare),
            BadList(name: "x.csv", text: #"title,url\nBare,\nA,URL0\nB,URL1\n"#, line: ":2", reason: bare),
            BadList(
                name: "x.jsonl", text: #""URL0"\n{"title": "B", "mbid": "not-an-id"}\n"URL1"\n"#, line: ":2:1: ",
                reason: "album 'B': mbid: 'not-an-id' is not a MusicBrainz id"),
            url("not a url", "not a URL"), url("example.org/cover.jpg", "must begin with http:// or https://"),
            url("ftp://127.0.0.1/cover.jpg", "ftp:// is not supported"), url("http://", "not a URL"),
            url("file:///etc/passwd", "file:// is not supported"), url("data:image/png;base64,AAAA", "not a URL"),
        ]
        private static let bare = "album 'Bare' has no cover URL; skipped"

        private static func url(_ url: String, _ reason: String) -> BadList {
            BadList(name: "list.txt", text: #"URL0\n\#(url)\nURL1\n"#, line: ":2: \(url): ", reason: reason)
        }

        @Test(arguments: [(malformed, 0), (skipping, 1)])
        func `what is wrong in a list is reported with its line, skipped and counted, and the rest is downloaded`(
            lists: [BadList], skips: Int
        ) async throws {
            try await withStage { stage in
                var (files, urls): ([String], [String]) = ([], [])
                for (number, list) in lists.enumerated() {
                    let own = stage.urls(number * 2..<number * 2 + 2)
                    let text = list.text.replacing(#"\n"#, with: "\n").replacing("URL0", with: own[0])
                        .replacing("URL1", with: own[1])
                    files.append(try stage.file("\(number)-\(list.name)", text))
                    urls += own[..<list.read]
                }
                let report = stage.folder + "/report.jsonl"
                let result = try await SleeveStage.run(
                    ["prefetch"] + files + ["--json", "--report", report], environment: stage.environment)
                #expect(result.status == 3, "\(result)")
                let messages = result.stderr.split(separator: "\n")
                let lines: [ReportLine] = try jsonLines(try stage.text(of: report))
                let skipped = lines.filter { $0.outcome == "skipped" }
                for (file, list) in zip(files, lists) {
                    let said = messages.filter { $0.contains(file + list.line) }
                    #expect(said.count == 1 && said[0].contains(list.reason), "\(list): \(result)")
                    let reported = skipped.filter { $0.error?.contains(file) == true }
                    #expect(reported.count == skips, "\(skipped)")
                    #expect(reported.allSatisfy { $0.error?.contains(list.reason) == true }, "\(reported)")
                }
                let summary = try result.summary()
                #expect(summary.downloaded == urls.count && summary.skipped == lists.count * skips, "\(result)")
                #expect(summary.requested == summary.downloaded + summary.skipped)
                #expect(Set(try await stage.entries().map(\.url)) == Set(urls))
            }
        }

        @Test func `a password in a URL is never shown and never sent`() async throws {
            try await withStage { stage in
                let urls = [
                    "http://mira:s3cret@HOST/covers/1.jpg", "http://s3cret@HOST/covers/1.jpg",
                    "https://mira:s3cret@HOST/covers/1.jpg", "ftp://mira:s3cret@HOST/1.jpg",
                    "http://mira:s3cret@HOST:x/1.jpg",
                    "//mira:s3cret@HOST/1.jpg", "mira:s3cret@HOST/1.jpg", "http://mira:s3cret@@HOST/a b.jpg",
                ].map { $0.replacing("HOST", with: "127.0.0.1:\(stage.origin.port)") }
                let report = stage.folder + "/report.jsonl"
                let result = try await stage.run(
                    "prefetch", try stage.list(urls), "--json", "--report", report, "--log-level", "trace")
                #expect(result.status == 3)
                #expect(try result.summary().skipped == urls.count)
                #expect(result.stderr.split(separator: "\n").count >= urls.count, "\(result)")
                for text in [result.stdout, result.stderr, try stage.text(of: report)] {
                    #expect(!text.contains("s3cret"), "\(text)")
                }
                for url in urls {
                    let get = try await stage.run("get", url, "--log-level", "trace")
                    #expect(get.status == 1 && get.output.isEmpty && !get.stderr.contains("s3cret"), "\(get)")
                    #expect(!get.stderr.isEmpty)
                }
                #expect(stage.origin.connectionCount == 0)
            }
        }

        @Test func `a password in a malformed album is not shown`() async throws {
            try await withStage { stage in
                let list = try stage.file(
                    "albums.json", #"[{"coverUrl": "http://mira:s3cret@127.0.0.1/1.jpg", "title": 5}]"#)
                let report = stage.folder + "/report.jsonl"
                let result = try await stage.run("prefetch", list, "--report", report)
                #expect(result.status == 3)
                for text in [result.stdout, result.stderr, try stage.text(of: report)] {
                    #expect(!text.contains("s3cret"), "\(text)")
                }
            }
        }

        @Test func `control characters of a list do not reach the terminal`() async throws {
            try await withStage { stage in
                let result = try await stage.run(
                    "prefetch", try stage.list(["\u{1B}]0;owned\u{07}\u{1B}[31mred", "http://h/\u{9B}31m"]),
                    "--retries", "0")
                #expect(result.status == 3)
                #expect(!result.stderr.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{07}" || $0 == "\u{9B}" })
            }
        }

        @Test func `a report is not written over its own list`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<2))
                let before = try stage.text(of: list)
                let result = try await stage.run("prefetch", list, "--report", stage.folder + "/./list.txt")
                #expect(result.status == 1 && result.stderr.contains("--report would overwrite"), "\(result)")
                #expect(try stage.text(of: list) == before)
            }
        }

        @Test func `metrics are not written over a list, the library or the report`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<2))
                let library = stage.folder + "/library.json"
                #expect(try await stage.run("album", "add", "--title", "A", "--library", library).status == 0)
                for (arguments, kept) in [
                    (["prefetch", list, "--metrics-file", list], list),
                    (["prefetch", "--library", library, "--metrics-file", library], library),
                    (["refresh", "--library", library, "--metrics-file", library], library),
                ] {
                    let before = try stage.text(of: kept)
                    let result = try await SleeveStage.run(arguments, environment: stage.environment)
                    #expect(result.status == 1 && result.stderr.contains("--metrics-file would overwrite"), "\(result)")
                    #expect(try stage.text(of: kept) == before)
                }
                let both = try await stage.run("prefetch", list, "--report", "x", "--metrics-file", "x")
                #expect(both.status == 64 && both.stderr.contains("two files"), "\(both)")
            }
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func `a failed write to stdout is an error`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3))
                for command in ["stats", "stats --json", "list", "list --json", "verify", "evict --to 1G --json"] {
                    let result = try await stage.shell("\"$SLEEVE\" cache \(command) > /dev/full")
                    #expect(result.status == 1 && result.stderr.contains("No space left"), "\(command): \(result)")
                }
                let url = stage.urls(5..<6, "delay=1100")[0]
                let result = try await stage.run("prefetch", try stage.list([url]), "--report", "/dev/full")
                #expect(result.status == 3 && result.stderr.contains("report"), "\(result)")
                let metrics = try await stage.run(
                    "prefetch", try stage.list([url]), "--json", "--metrics-file", "/dev/full")
                #expect(metrics.status == 3 && metrics.stderr.contains("/dev/full"), "\(metrics)")
                #expect(try metrics.summary().fresh == 1)
            }
        }

        /// 10 MB between the first and the last cover, on one line.
        @Test(arguments: ["list.txt", "albums.jsonl", "covers.csv", "albums.json"])
        func `a line of 10 MB is skipped and never held in memory`(name: String) async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<2)
                let (head, tail) =
                    switch name {
                    case "list.txt": ("\(urls[0])\nhttp://a/", "\n\(urls[1])\n")
                    case "albums.jsonl": ("\"\(urls[0])\"\n\"http://a/", "\"\n\"\(urls[1])\"\n")
                    case "covers.csv": ("title,url\nA,\(urls[0])\nB,http://a/", "\nC,\(urls[1])\n")
                    default: ("[\"\(urls[0])\", \"http://a/", "\", \"\(urls[1])\"]")
                    }
                /// Prefetches a list with a line of this length. - Returns: the most memory that the command had, in bytes.
                func peak(_ length: Int) async throws -> Int {
                    let file = try stage.file(name, head + String(repeating: "x", count: length) + tail)
                    let result = try await stage.run("prefetch", file, "--json")
                    let summary = try result.summary()
                    #expect(result.status == 3 && summary.downloaded + summary.fresh == 2, "\(result)")
                    #expect(
                        summary.skipped == 1 && result.stderr.contains("is longer than 1 MiB; skipped"), "\(result)")
                    return summary.peakMemoryBytes
                }
                let (short, long) = (try await peak(2 << 20), try await peak(10 << 20))
                #expect(long < short + 6 << 20, "\(short) bytes for a line of 2 MB")
            }
        }
    }
}
