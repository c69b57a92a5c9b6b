import CoverLibrary
import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension CommandTests {
    @Suite struct PrefetchTests {
        /// The same three covers in every format.
        private func text(_ format: String, _ urls: [String]) -> String {
            switch format {
            case "json":
                """
                [{"title": "A", "artist": "x", "genre": "y", "coverUrl": "\(urls[0])", "year": "1999"},
                 {"title": "B", "cover_url": "\(urls[1])", "year": 2001},
                 "\(urls[2])"]
                """
            case "jsonl":
                "{\"title\": \"A\", \"coverUrl\": \"\(urls[0])\"}\n{\"cover_url\": \"\(urls[1])\"}\n\"\(urls[2])\"\n"
            case "csv": "title,Cover URL\n\"A, or B\",\(urls[0])\nB,\"\(urls[1])\"\nC,\(urls[2])\n"
            default: "# covers\n\n" + urls.joined(separator: "\n")
            }
        }

        @Test(arguments: ["json", "jsonl", "csv", "urls"])
        func `a list is prefetched from a file and from stdin, and its format is detected`(format: String) async throws
        {
            try await withStage { stage in
                let urls = stage.urls(0..<3)
                let text = text(format, urls)
                let file = try stage.file("albums.\(format == "urls" ? "txt" : format)", text)
                let first = try await stage.run("prefetch", file, "--json")
                #expect(first.status == 0, "\(first)")
                #expect(try first.summary().downloaded == 3)
                #expect(Set(try await stage.entries().map(\.url)) == Set(urls))

                let second = try await stage.run("prefetch", "-", "--json", stdin: .text(text))
                #expect(second.status == 0, "\(second)")
                #expect(try second.summary().fresh == 3)
                #expect(stage.origin.requestCount == 3)
            }
        }

        @Test func `a cache that is removed during a run is made again, and the run says what is gone with it`()
            async throws
        {
            try await withStage { stage in
                let report = stage.folder + "/report.jsonl"
                let child = try stage.start("prefetch", "-", "--report", report, stdin: .open)
                child.send(stage.urls(0..<3).map { $0 + "\n" }.joined())
                try await eventually { (try? stage.text(of: report).split(separator: "\n").count) == 3 }
                try FileManager.default.removeItem(atPath: stage.cache)
                child.send(stage.urls(3..<5).map { $0 + "\n" }.joined())
                child.closeInput()
                let result = await child.exit()
                #expect(result.status == 3 && result.stderr.contains("up to 3 covers of the run"), "\(result)")
                #expect(try await Set(stage.entries().map(\.url)) == Set(stage.urls(3..<5)))
                let again = try await stage.run("prefetch", stage.list(stage.urls(0..<5)))
                #expect(again.status == 0 && !again.stderr.contains("removed"), "\(again)")
            }
        }

        @Test func `--format overrides the file's extension`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<3)
                let file = try stage.file("albums.csv", text("jsonl", urls))
                let asked = try await stage.run("prefetch", file, "--format", "jsonl", "--json")
                #expect(asked.status == 0, "\(asked)")
                #expect(try asked.summary().downloaded == 3)
                let wrong = try await stage.run("prefetch", file, "--format", "xml")
                #expect(wrong.status == 64)
            }
        }

        @Test func `several lists are one run`() async throws {
            try await withStage { stage in
                let first = try stage.file("a.jsonl", text("jsonl", stage.urls(0..<3)))
                let second = try stage.file("b.txt", text("urls", stage.urls(2..<5)))
                let result = try await stage.run(
                    "prefetch", first, second, "-", "--json", stdin: .text(stage.urls(5..<6)[0]))
                #expect(result.status == 0, "\(result)")
                let summary = try result.summary()
                #expect(summary.requested == 7 && summary.downloaded == 6)
                #expect(summary.joined == 1)
            }
        }

        @Test func `the summary has every field of the contract and adds up`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<2))
                let urls = stage.urls(0..<10) + stage.urls(2..<4) + stage.urls(10..<13, "status=404") + ["not a url"]
                let result = try await stage.run("prefetch", try stage.list(urls), "--json")
                let names = try #require(try memberNames(result.stdout).first)
                #expect(
                    names.isSuperset(of: [
                        "requested", "downloaded", "deduplicated", "revalidated", "fresh", "joined", "skipped",
                        "failed",
                        "bytes", "seconds", "coversPerSecond", "bytesPerSecond", "peakMemoryBytes",
                    ]))
                let summary = try result.summary()
                #expect(summary.requested == 16 && summary.settled == 16)
                #expect(summary.downloaded == 8 && summary.fresh == 2 && summary.joined == 2)
                #expect(summary.failed == 3 && summary.skipped == 1 && summary.revalidated == 0)
                let bytes = (2..<10).reduce(0) { $0 + CoverImage.jpeg(number: $1, aboutBytes: 4_000).count }
                #expect(summary.bytes == bytes)
                #expect(summary.seconds > 0 && summary.peakMemoryBytes > 1_000_000)
                #expect(abs(summary.coversPerSecond - 8 / summary.seconds) < 1)
                #expect(result.status == 3)
            }
        }

        @Test func `the text summary counts downloaded and fresh covers`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<12))
                let first = try await stage.run("prefetch", list)
                #expect(first.stdout.hasPrefix("12 covers: 12 downloaded in "), "\(first)")
                let second = try await stage.run("prefetch", list)
                #expect(second.stdout.hasPrefix("12 covers: 12 cached in "), "\(second)")
            }
        }

        @Test func `a limited number of failures is printed, and the others are counted`() async throws {
            try await withStage { stage in
                let result = try await stage.run("prefetch", try stage.list(stage.urls(0..<50, "status=404")))
                #expect(result.status == 3)
                let lines = result.stderr.split(separator: "\n")
                #expect(lines.count < 30)
                #expect(lines.last?.contains("and 30 more") == true, "\(result)")
            }
        }

        @Test func `the report has one line per cover, with the fields of the contract`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<1))
                let urls = stage.urls(0..<3) + stage.urls(2..<3) + stage.urls(8..<9, "status=404") + ["ftp://a/b.jpg"]
                let report = stage.folder + "/report.jsonl"
                let result = try await stage.run("prefetch", try stage.list(urls), "--report", report, "--quiet")
                #expect(result.status == 3)
                let text = try stage.text(of: report)
                let fields: Set = ["url", "line", "outcome", "digest", "bytes", "milliseconds", "error"]
                #expect(try memberNames(text).allSatisfy { $0.isSuperset(of: fields) })
                let lines: [ReportLine] = try jsonLines(text)
                #expect(lines.map(\.url).sorted() == urls.sorted())
                #expect(lines.compactMap(\.line).sorted() == Array(1...urls.count))
                #expect(lines.allSatisfy { urls[($0.line ?? 1) - 1] == $0.url })
                let outcomes = Dictionary(grouping: lines, by: \.outcome).mapValues(\.count)
                #expect(outcomes == ["fresh": 1, "downloaded": 2, "joined": 1, "failed": 1, "skipped": 1])
                let entries = try await stage.entries()
                for line in lines {
                    switch line.outcome {
                    case "failed", "skipped": #expect(line.error != nil && line.digest == nil && line.bytes == 0)
                    default:
                        #expect(line.error == nil)
                        #expect(
                            entries.contains {
                                $0.url == line.url && $0.digest == line.digest && $0.bytes == line.bytes
                            })
                        if line.outcome == "downloaded" { #expect(line.milliseconds > 0) }
                    }
                }
            }
        }

        @Test func `the report says where the time of each downloaded cover went`() async throws {
            struct Line: Decodable {
                var outcome: String
                var timings: [String: Int]?
            }
            try await withStage { stage in
                let report = stage.folder + "/report.jsonl"
                let before = Int(Date().timeIntervalSince1970 * 1e6)
                let list = try stage.list(stage.urls(0..<4, "delay=30") + stage.urls(0..<1, "delay=30"))
                #expect(
                    try await stage.run("prefetch", list, "--report", report, "--quiet", "--per-host", "1").status == 0)
                let lines: [Line] = try jsonLines(try stage.text(of: report))
                let timings = lines.filter { $0.outcome == "downloaded" }.compactMap(\.timings)
                #expect(timings.count == 4)
                #expect(lines.filter { $0.outcome != "downloaded" }.allSatisfy { $0.timings == nil })
                for timing in timings {
                    #expect(
                        Set(timing.keys) == [
                            "queue", "name", "connect", "tls", "firstByte", "body", "storeQueue", "hash", "append",
                            "sync",
                            "commit", "end", "connection",
                        ])
                    #expect(timing["firstByte"]! >= 30_000)
                    #expect(timing["tls"] == 0 && timing["end"]! > before)
                }
                // One at a time, on one connection: the last waits for the other three.
                #expect(Set(timings.map { $0["connection"]! }).count == 1)
                #expect(timings.map { $0["queue"]! }.max()! >= 90_000)
            }
        }

        @Test(arguments: ["--report", "--metrics-file"])
        func `an unwritable report or metrics file stops the run before it connects`(option: String) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<1))
                for arguments in [["prefetch", list], ["refresh", "--jitter", "300d"]] {
                    for (place, reason) in [("no/such/file", "No such file or directory"), (".", "Is a directory")] {
                        let result = try await run(
                            arguments + [option, "\(stage.folder)/\(place)"], environment: stage.environment)
                        #expect(result.status == 1)
                        #expect(result.stderr.contains("\(place): \(reason)"), "\(result)")
                        #expect(stage.origin.connectionCount == 0)
                    }
                }
            }
        }

        @Test(arguments: [("0.05s", true), ("0", false)])
        func `without a terminal, progress is printed at the interval, and never for 0`(
            interval: String, isPrinted: Bool
        ) async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let list = try stage.list(stage.urls(0..<3) + [tripwire.url(through: stage.origin)])
                let child = try stage.start("prefetch", list, "--progress-interval", interval)
                try await tripwire.wait(for: child)
                if isPrinted { try await eventually { child.errors.contains(" covers · ") } }
                child.kill(SIGTERM)
                let result = await child.exit()
                #expect(result.stderr.contains(" covers · ") == isPrinted, "\(result)")
            }
        }

        @Test func `metrics can be written to a device or a pipe`() async throws {
            try await withStage { stage in
                let result = try await stage.run(
                    "prefetch", try stage.list(stage.urls(0..<1)), "--quiet", "--metrics-file", "/dev/stdout")
                #expect(result.status == 0 && result.stdout.contains("sleeve_last_run_exit_code"), "\(result)")
            }
        }

        @Test func `quiet prints nothing on success, and still prints failures`() async throws {
            try await withStage { stage in
                let good = try await stage.run("prefetch", try stage.list(stage.urls(0..<3)), "--quiet")
                #expect(good.status == 0 && good.stdout.isEmpty && good.stderr.isEmpty, "\(good)")
                let bad = try await stage.run("prefetch", try stage.list(stage.urls(3..<4, "status=404")), "--quiet")
                #expect(bad.status == 3 && bad.stdout.isEmpty)
                #expect(bad.stderr.contains("404"))
            }
        }

        @Test func `a URL on stdin is downloaded before stdin ends`() async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let child = try stage.start(
                    "prefetch", "-", "--format", "urls", "--json", "--retries", "0", "--timeout", "0.5", stdin: .open)
                child.send(tripwire.url + "\n")
                try await tripwire.wait(for: child)
                child.send(stage.urls(0..<1)[0])
                child.closeInput()
                let result = await child.exit()
                #expect(result.status == 3, "\(result)")
                #expect(try result.summary().downloaded == 1)
            }
        }
    }
}
