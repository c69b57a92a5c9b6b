import CoverLibrary
import Foundation
import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct GetTests {
        /// libcurl resolves every name below `localhost` to this machine (RFC 6761 §6.3).
        @Test(arguments: ["C", "C.UTF-8"])
        func `a cover of an international host name is downloaded in every locale, under one key`(
            locale: String
        ) async throws {
            try await withStage { stage in
                var environment = stage.environment
                environment["LC_ALL"] = locale
                let url = "http://m\u{FC}ller.localhost:\(stage.origin.port)/covers/1.jpg?size=4000"
                let result = try await run(["get", url, "-o", "\(stage.folder)/x.jpg"], environment: environment)
                #expect(result.status == 0, "\(result)")
                let key = "http://xn--mller-kva.localhost:\(stage.origin.port)/covers/1.jpg?size=4000"
                #expect(try await stage.entries().map(\.url) == [key])
                let list = try stage.list([url.uppercased().replacing("COVERS/1.JPG?SIZE", with: "covers/1.jpg?size")])
                #expect(try await stage.run("prefetch", list, "--offline", "--json").summary().fresh == 1)
            }
        }

        private let cover = CoverImage.jpeg(number: 5)

        @Test func `stdout has the exact bytes: on a miss, on a hit, and offline with the origin stopped`()
            async throws
        {
            try await withStage { stage in
                let url = stage.origin.coverURL(5)
                let miss = try await stage.run("get", url)
                #expect(miss.status == 0 && miss.output == cover && miss.stderr.isEmpty, "\(miss)")
                let hit = try await stage.run("get", url)
                #expect(hit.status == 0 && hit.output == cover)
                #expect(stage.origin.requestCount == 1)
                await stage.origin.stop()
                let offline = try await stage.run("get", "--offline", url)
                #expect(offline.status == 0 && offline.output == cover)
                let stats = try await stage.stats()
                #expect(stats.hits >= 2 && stats.misses == 1)
            }
        }

        @Test func `--path prints the path of a file with the cover's bytes, downloaded on a miss`() async throws {
            try await withStage { stage in
                let url = stage.origin.coverURL(5)
                try await stage.fill([stage.origin.coverURL(6)])
                let absent = try await stage.run("get", "--path", "--offline", url)
                #expect(absent.status == 3 && absent.stdout.isEmpty, "\(absent)")
                let miss = try await stage.run("get", "--path", url)
                #expect(miss.status == 0 && miss.stdout.hasSuffix("\n"), "\(miss)")
                let path = String(miss.stdout.dropLast())
                #expect(path.hasPrefix("/") && FileManager.default.contents(atPath: path) == Data(cover))
                let hit = try await stage.run("get", "--path", "--offline", url)
                #expect(hit.stdout == miss.stdout && stage.origin.requestCount(path: "/covers/5.jpg") == 1)
                let json = try await stage.run("get", "--path", "--json", url)
                #expect(try memberNames(json.stdout)[0].isSuperset(of: ["url", "digest", "path"]), "\(json)")
                let forbidden = try await stage.run("get", "--path", url + "?cache-control=no-store")
                #expect(forbidden.status == 3 && forbidden.stderr.contains("no-store"), "\(forbidden)")
                #expect(try await stage.run("get", "--path", url, "-o", "x").status == 64)
            }
        }

        @Test
        func `an album's cover is that of its first cached URL, else it is downloaded from the first that has it`()
            async throws
        {
            try await withStage { stage in
                let (missing, second) = (stage.urls(0..<1, "status=404")[0], stage.origin.coverURL(5))
                _ = try stage.file(
                    "albums.json",
                    """
                    [{"id": "a", "title": "Low Tide", "artist": "Lights", "coverUrl": "\(missing)", "coverUrls": ["\(second)"]},
                     {"id": "b", "title": "Low Tide", "artist": "Others", "coverUrl": "\(stage.origin.coverURL(6))"},
                     {"id": "c", "title": "No cover"}]
                    """)
                let offline = try await stage.run("get", "--album", "a", "--offline")
                #expect(offline.status == 1 || offline.status == 3, "\(offline)")
                for name in ["a", "lights - low tide", "1", "id:a"] {
                    let result = try await stage.run("get", "--album", name)
                    #expect(result.status == 0 && result.output == cover, "\(name): \(result)")
                }
                #expect(stage.origin.requestCount(path: "/covers/5.jpg") == 1)
                let path = try await stage.run("get", "--album", "a", "--path", "--offline")
                #expect(FileManager.default.contents(atPath: String(path.stdout.dropLast())) == Data(cover))
                let both = try await stage.run("get", "--album", "low tide")
                #expect(both.status == 64 && both.stderr.contains("2 albums are titled"), "\(both)")
                #expect(try await stage.run("get", "--album", "d").status == 1)
                let none = try await stage.run("get", "--album", "c")
                #expect(none.status == 1 && none.stderr.contains("No cover: the library has no address"), "\(none)")
                #expect(try await stage.run("get", "--album", "a", second).status == 64)
                #expect(try await stage.run("get").status == 64)
            }
        }

        @Test func `an album needs a library file, which a get does not create`() async throws {
            try await withStage { stage in
                let result = try await stage.run("get", "--album", "x")
                #expect(result.status == 1 && result.stderr.contains("no library file at"), "\(result)")
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/albums.json"))
            }
        }

        @Test func `a cover is written to a file, and JSON describes it`() async throws {
            try await withStage { stage in
                let file = try stage.file("cover.jpg", "something else")
                let result = try await stage.run("get", stage.origin.coverURL(5), "-o", file, "--json")
                #expect(result.status == 0, "\(result)")
                #expect(try Data(contentsOf: URL(filePath: file)) == Data(cover))
                let names = try memberNames(result.stdout)
                let keys: Set = [
                    "schema", "command", "url", "digest", "bytes", "type", "width", "height", "stale",
                ]
                #expect(names == [keys])
                #expect(result.stdout.contains("\"bytes\":\(cover.count)"))
                #expect(
                    Set(try FileManager.default.contentsOfDirectory(atPath: stage.folder)) == ["cache", "cover.jpg"])
            }
        }

        @Test func `a device or a link is written through, and a file keeps its mode`() async throws {
            try await withStage { stage in
                let file = try stage.file("private.jpg", "old")
                chmod(file, 0o600)
                let link = stage.folder + "/link.jpg"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
                let script = """
                    set -e
                    "$SLEEVE" get "$1" -o "$2"; test -h "$2"
                    "$SLEEVE" get "$1" -o "$3"; test "$(stat -c %a "$3" 2>/dev/null || stat -f %Lp "$3")" = 600
                    mkfifo "$4"; cat "$4" > "$4.read" & "$SLEEVE" get "$1" -o "$4"; wait; test -p "$4"
                    """
                let fifo = stage.folder + "/pipe"
                let result = try await stage.shell(script, stage.origin.coverURL(5), link, file, fifo)
                #expect(result.status == 0, "\(result)")
                for path in [file, fifo + ".read"] { #expect(try Data(contentsOf: URL(filePath: path)) == Data(cover)) }
            }
        }

        @Test func `a failure leaves the file unchanged, and one that cannot be written is named`() async throws {
            try await withStage { stage in
                let file = try stage.file("cover.jpg", "old")
                #expect(try await stage.run("get", stage.urls(0..<1, "status=404")[0], "-o", file).status == 3)
                #expect(try stage.text(of: file) == "old")
                let result = try await stage.run("get", stage.origin.coverURL(5), "-o", stage.folder + "/no/cover.jpg")
                #expect(result.status == 1)
                #expect(result.stderr.contains("cannot write \(stage.folder)/no/cover.jpg: No such file"), "\(result)")
            }
        }

        @Test func `offline, a miss is reported and nothing connects`() async throws {
            try await withStage { stage in
                let url = stage.origin.coverURL(5)
                try await stage.fill(stage.urls(6..<7))
                let connections = stage.origin.connectionCount
                let result = try await stage.run("get", "--offline", url)
                #expect(result.status == 3 && result.output.isEmpty, "as where its server does not give it")
                #expect(result.stderr == "sleeve: \(url): not in the cache, and offline\n")
                #expect(stage.origin.connectionCount == connections)
            }
        }

        /// What an origin is asked for, and what is said of its response.
        private static let badResponses = [
            ("status=404", "the server answered 404"), ("status=410", "the server answered 410"),
            ("status=403", "403"), ("status=500", "500"), ("fault=html", "an HTML page, not an image"),
            ("fault=json", "JSON"), ("fault=empty", "not an image"), ("fault=loop", "redirect"),
            ("redirect=11", "redirect"), ("fault=truncate", "ended early"), ("fault=wrong-length", "ended early"),
            ("fault=endless", "100 KiB"), ("size=200000", "100 KiB"), ("size=200000&chunked=1", "100 KiB"),
            ("fault=reset", "reset"), ("fault=close", "without an answer"), ("fault=never", "timed out after "),
            ("to=ftp%3A%2F%2F127.0.0.1%2Fx", "what may not be fetched"),
            ("to=file%3A%2F%2F%2Fetc%2Fpasswd", "what may not be fetched"),
        ]

        @Test func `a bad response fails with its reason, of each kind, and nothing is stored`() async throws {
            try await withStage { stage in
                // Each at a host of its own, which has no other failures.
                let urls = Self.badResponses.enumerated().map {
                    "http://host\($0.offset).localhost:\(stage.origin.port)/covers/5.jpg?\($0.element.0)"
                }
                let report = stage.folder + "/report.jsonl"
                let result = try await stage.run(
                    "prefetch", try stage.list(urls), "--retries", "0", "--timeout", "0.5", "--max-size", "100K",
                    "--json", "--report", report)
                let summary = try result.summary()
                #expect(result.status == 3 && summary.downloaded == 0 && summary.requested == urls.count, "\(result)")
                let lines: [ReportLine] = try jsonLines(try stage.text(of: report))
                #expect(lines.count == urls.count)
                let errors = Dictionary(lines.map { ($0.url, $0.error ?? "") }) { $1 }
                for (url, (query, reason)) in zip(urls, Self.badResponses) {
                    #expect(errors[url]?.contains(reason) == true, "\(query): \(errors[url] ?? "no line")")
                }
                #expect(try await stage.entries().isEmpty)
            }
        }

        @Test func `a get of a bad response fails in one line that names the URL, and nothing is stored`() async throws
        {
            try await withStage { stage in
                let url = stage.urls(5..<6, "fault=html")[0]
                let result = try await stage.run("get", url)
                #expect(result.status == 3 && result.output.isEmpty)
                #expect(
                    result.stderr.hasPrefix("sleeve: \(url): ") && result.stderr.contains("an HTML page"), "\(result)")
                #expect(result.stderr.split(separator: "\n").count == 1, "\(result)")
                #expect(try await stage.entries().isEmpty)
            }
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func `a signal ends a get at once, with nothing on stdout`(signal: Int32) async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let child = try stage.start("get", tripwire.url)
                try await tripwire.wait(for: child)
                let clock = ContinuousClock()
                var result: RunResult?
                let time = await clock.measure {
                    child.kill(signal)
                    result = await child.exit()
                }
                #expect(
                    result?.status == 128 + signal && result?.output.isEmpty == true, "\(String(describing: result))")
                #expect(time < .seconds(30), "the transfer would wait for a minute")
            }
        }
    }
}
