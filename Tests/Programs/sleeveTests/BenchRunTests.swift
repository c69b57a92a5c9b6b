import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension CommandTests {
    @Suite struct BenchRunTests {
        private struct Report: Decodable {
            struct Result: Decodable {
                struct Spread: Decodable { var minimum, median, maximum: Double }
                struct Latency: Decodable { var p50, p999: Double }
                struct Stage: Decodable { var name: String, mean: Double }
                var scenario: String
                var covers, failed, connections: Int
                var coversPerSecond: Spread
                var latency: Latency?
                var stages: [Stage]
            }
            struct Comparison: Decodable {
                var rival, command: String
                var failure: String?
            }
            var target: String
            var results: [Result]
            var comparisons: [Comparison]
        }

        /// The files that the bench has left in the folder.
        private func leftovers(_ stage: Stage) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: stage.folder).filter { $0.hasPrefix("sleeve-bench") }
        }

        @Test func `a bench over loopback measures each scenario and leaves nothing behind`() async throws {
            try await withStage { stage in
                let result = try await stage.run(
                    "bench", "--covers", "50", "--rounds", "1", "--folder", stage.folder, "--json", "--quiet", "--",
                    "--per-host", "1")
                #expect(result.status == 0, "\(result)")
                let report: Report = try result.json()
                #expect(report.target == "loopback, HTTP/1.1")
                #expect(report.results.map(\.scenario) == ["cold", "warm", "revalidate"])
                for line in report.results {
                    #expect(line.covers == 50 && line.failed == 0, "\(line)")
                    #expect(line.coversPerSecond.median > 0)
                }
                let cold = report.results[0]
                // The option after -- reaches the prefetch.
                #expect(cold.connections == 1)
                #expect(try #require(cold.latency).p50 > 0)
                #expect(cold.stages.first { $0.name == "hash" }?.mean ?? 0 > 0)
                #expect(try leftovers(stage) == [])
            }
        }

        @Test func `a bench of a list asks its server for each cover once, and says so before`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<20)
                let list = try stage.list(urls + urls.prefix(5))
                let result = try await stage.run("bench", list, "--folder", stage.folder, "--json")
                #expect(result.status == 0, "\(result)")
                #expect(
                    result.stderr.contains(
                        "20 covers of \(list): each is downloaded once and revalidated once, 40 requests in all"))
                #expect(stage.origin.requestCount == 40)
                let report: Report = try result.json()
                #expect(report.results.map(\.covers) == [20, 20, 20])
            }
        }

        @Test func `a rival that cannot be started has failed, and the rest is measured`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<5))
                let result = try await stage.shell(
                    "PATH=/nowhere exec \"$SLEEVE\" bench \"$1\" --only cold --compare curl --folder \"$2\" --json --quiet",
                    list,
                    stage.folder)
                #expect(result.status == 0, "\(result)")
                let report: Report = try result.json()
                #expect(report.results.map(\.scenario) == ["cold"])
                #expect(report.comparisons.map(\.failure) == ["it is not installed"])
                #expect(report.comparisons[0].command.contains("-K urls.curl"))
            }
        }

        @Test(.enabled(if: ["/usr/bin", "/bin", "/usr/local/bin"].contains { access($0 + "/curl", X_OK) == 0 }))
        func `curl downloads the list in its turn, in a folder that is named relative to another`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<5))
                let result = try await stage.shell(
                    "cd \"$2\" && \"$SLEEVE\" bench \"$1\" --only cold --compare curl --folder here --json --quiet",
                    list,
                    stage.folder)
                #expect(result.status == 0, "\(result)")
                let report: Report = try result.json()
                #expect(report.comparisons.count == 1 && report.comparisons[0].failure == nil, "\(result)")
                #expect(stage.origin.requestCount == 10)
            }
        }

        @Test func `a stopped bench ends its processes, removes its folder and reports what it measured`() async throws
        {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<50))
                let child = try stage.start(
                    "bench", list, "--rounds", "1000", "--only", "cold", "--folder", stage.folder, "--json", "--quiet")
                // The second round has begun.
                try await eventually { stage.origin.requestCount > 50 }
                child.kill(SIGINT)
                let result = await child.exit()
                #expect(result.status == 130, "\(result)")
                #expect(result.stdout.contains("\"cancelled\":true"))
                let report: Report = try result.json()
                #expect(report.results.map(\.covers) == [50])
                #expect(try leftovers(stage) == [])
            }
        }

        @Test func `covers that fail are counted, and end the bench with exit code 3`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<5) + stage.urls(5..<6, "status=404"))
                let result = try await stage.run(
                    "bench", list, "--only", "cold", "--folder", stage.folder, "--json", "--quiet")
                #expect(result.status == 3, "\(result)")
                let report: Report = try result.json()
                #expect(report.results.map(\.covers) == [5] && report.results.map(\.failed) == [1])
            }
        }

        @Test func `a bench whose covers all fail says why, and goes no further`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<5, "status=404"))
                let result = try await stage.run("bench", list, "--rounds", "3", "--folder", stage.folder, "--quiet")
                #expect(result.status == 3, "\(result)")
                let reason =
                    #/cold: 5 covers failed, the first is http://\S+/covers/\d.jpg\?status=404: the server answered 404/#
                #expect(result.stdout.contains(reason), "\(result)")
                #expect(stage.origin.requestCount == 5)
            }
        }
    }
}
