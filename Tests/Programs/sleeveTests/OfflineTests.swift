import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    /// Without a network, or with --offline.
    @Suite struct OfflineTests {
        private static let stale = "cache-control=max-age%3D0"

        private struct CoverLine: Decodable {
            var stale: Bool?
        }

        @Test func `get marks a stale cover on stderr and in JSON, and list marks stale entries`() async throws {
            try await withStage { stage in
                let (old, new) = (stage.urls(1..<2, Self.stale)[0], stage.urls(2..<3)[0])
                try await stage.fill([old, new])
                await stage.origin.stop()
                for options in [["--offline"], []] {
                    let arguments = ["get", old, "-o", stage.folder + "/c", "--json"] + options
                    let result = try await SleeveStage.run(arguments, environment: stage.environment)
                    #expect(result.status == 0 && result.stderr.contains("stale"), "\(result)")
                    let line: CoverLine = try result.json()
                    #expect(line.stale == true)
                }
                let fresh = try await stage.run("get", new, "-o", stage.folder + "/c", "--json")
                let line: CoverLine = try fresh.json()
                #expect(line.stale == false && fresh.stderr.isEmpty, "\(fresh)")
                let quiet = try await stage.run("get", old, "-o", stage.folder + "/c", "--quiet")
                #expect(quiet.status == 0 && quiet.stderr.isEmpty)
                let lines: [CoverLine] = try await stage.run("cache", "list", "--json").lines()
                #expect(lines.count == 2 && lines.filter { $0.stale == true }.count == 1)
            }
        }

        #if os(Linux)
            @Test func `reading the cache offline does not initialize libcurl, and downloading does`() async throws {
                try await withStage { stage in
                    let url = stage.urls(1..<2)[0]
                    /// Whether the dynamic linker bound `curl_global_init`, which it does at the first call.
                    func initializes(_ name: String, _ arguments: [String]) async throws -> Bool {
                        let folder = "\(stage.folder)/\(name)"
                        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                        let environment = stage.environment.merging(
                            ["LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": folder + "/bindings"]) { $1 }
                        let result = try await run(arguments, environment: environment)
                        try #require(result.status == 0, "\(result)")
                        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
                        return try files.contains { file in
                            let text = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
                            try #require(text.range(of: Data("libcurl".utf8)) != nil)
                            return text.range(of: Data("`curl_global_init'".utf8)) != nil
                        }
                    }
                    #expect(try await initializes("miss", ["get", url, "-o", stage.folder + "/c"]))
                    #expect(try await !initializes("hit", ["get", url, "-o", stage.folder + "/c"]))
                    #expect(try await !initializes("offline", ["get", "--offline", url, "-o", stage.folder + "/c"]))
                    let list = try stage.list([url])
                    #expect(try await !initializes("prefetch", ["prefetch", "--offline", list]))
                    #expect(try await !initializes("list", ["cache", "list"]))
                }
            }
        #endif

        @Test
        func
            `a prefetch without a network prints a few lines, exits with 3, and the next one downloads what is missing`()
            async throws
        {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<60))
                try await stage.fill(stage.urls(0..<10))
                let port = stage.origin.port
                await stage.origin.stop()
                let report = stage.folder + "/report"
                let gone = try await stage.run("prefetch", list, "--json", "--retries", "0", "--report", report)
                #expect(gone.status == 3)
                let summary = try gone.summary()
                #expect(summary.fresh == 10 && summary.failed == 50)
                let lines = gone.stderr.split(separator: "\n").filter { $0.hasPrefix("sleeve: ") }
                #expect(lines.count <= 9, "\(gone.stderr)")
                #expect(lines.last?.contains("no server could be reached") == true)
                #expect(gone.stderr.contains(" not tried: 127.0.0.1:\(port) refused "), "\(gone.stderr)")
                #expect(gone.stderr.contains("can't reach 127.0.0.1:\(port): connection refused"), "\(gone.stderr)")
                let told: [ReportLine] = try jsonLines(try stage.text(of: report))
                #expect(told.filter { $0.outcome == "failed" }.count == 50, "each is in the report")
                var options = OriginOptions()
                options.port = port
                let back = try await Origin.start(options)
                let after = try await stage.run("prefetch", list, "--json")
                await back.stop()
                #expect(after.status == 0)
                #expect(try after.summary().downloaded == 50)
            }
        }

        @Test func `five failures of a host are printed for each cause, and the others are counted`() async throws {
            try await withStage { stage in
                let busy = try stage.list(stage.urls(0..<30, "status=503&retry-after=3600"))
                let refused = try await stage.run("prefetch", busy, "--retries", "0", "--per-host", "1")
                func lines(_ result: RunResult) -> [Substring] {
                    result.stderr.split(separator: "\n").filter { $0.hasPrefix("sleeve: ") }
                }
                #expect(lines(refused).count == 7, "\(refused)")
                #expect(refused.stderr.contains(": 6 more covers failed with status 503; --report"))
                let host = "127.0.0.1:\(stage.origin.port)"
                #expect(refused.stderr.contains("19 not tried: \(host) asks to wait 3600 s\n"))
            }
            try await withStage { stage in
                let bad = try stage.list(stage.urls(0..<10, "status=500") + stage.urls(10..<20))
                let result = try await stage.run("prefetch", bad, "--retries", "0", "--json")
                #expect(
                    result.stderr.contains(":\(stage.origin.port): 5 more covers failed with status 500; --report"),
                    "\(result)")
                #expect(try result.summary().downloaded == 10)
            }
            try await withStage { stage in
                let slow = try stage.list(stage.urls(0..<12, "fault=never"))
                let late = try await stage.run(
                    "prefetch", slow, "--retries", "0", "--timeout", "0.3", "--fixed", "--per-host", "12")
                #expect(late.stderr.contains(":\(stage.origin.port): 7 more covers timed out; --report"), "\(late)")
            }
        }

        @Test func `if some servers answer, the network is not reported as unreachable`() async throws {
            try await withStage { stage in
                let away = (0..<30).map { "http://127.0.0.1:1/\($0).jpg" }
                let list = try stage.list(away + stage.urls(0..<1))
                let result = try await stage.run("prefetch", list, "--retries", "0", "--per-host", "4")
                #expect(result.status == 3)
                #expect(result.stderr.contains(" not tried: 127.0.0.1:1 refused "), "\(result)")
                #expect(!result.stderr.contains("no server could be reached"))
            }
        }
    }
}
