import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    @Suite struct ShardTests {
        @Test func `the shards of a list add up to it, and each host is in one shard`() async throws {
            try await withStage { stage in
                let port = try #require(stage.origin.coverURL(0).split(separator: ":").last?.prefix { $0.isNumber })
                let hosts = (0..<24).map { "h\($0).localhost:\(port)" }
                let urls = hosts.flatMap { host in (0..<5).map { "http://\(host)/covers/\($0).jpg?host=\(host.count)" }
                }
                let list = try stage.list(urls + ["no address", "ftp://127.0.0.1/a.jpg"])
                var lines: [(shard: Int, line: ReportLine)] = []
                for shard in 0..<4 {
                    let report = stage.folder + "/\(shard).jsonl"
                    let result = try await stage.run(
                        "prefetch", list, "--shard", "\(shard)/4", "--json", "--report", report,
                        "--cache", stage.folder + "/cache-\(shard)")
                    let reported = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n").map {
                        try JSONDecoder().decode(ReportLine.self, from: Data($0.utf8))
                    }
                    #expect(result.status == (shard == 0 ? 3 : 0), "\(result)")
                    #expect(try result.summary().requested == reported.count)
                    lines += reported.map { (shard, $0) }
                }
                #expect(lines.compactMap(\.line.line).sorted() == Array(1...urls.count + 2))
                #expect(lines.filter { $0.line.outcome == "skipped" }.map(\.shard) == [0, 0])
                let downloaded = lines.filter { $0.line.outcome == "downloaded" }
                #expect(downloaded.count == urls.count && stage.origin.requestCount == urls.count)
                let shards = Dictionary(grouping: downloaded) { $0.line.url.split(separator: "/")[1] }
                #expect(shards.count == 24 && shards.values.allSatisfy { Set($0.map(\.shard)).count == 1 })
                #expect(Set(downloaded.map(\.shard)).count > 1)
            }
        }

        @Test func `a part of a list that has no cover is a success, and the metrics name the part`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<3))
                let file = stage.folder + "/sleeve.prom"
                var counts: [Int] = []
                for shard in 0...1 {
                    let result = try await stage.run(
                        "prefetch", list, "--shard", "\(shard)/2", "--json", "--metrics-file", file)
                    #expect(result.status == 0, "\(result)")
                    counts.append(try result.summary().requested)
                    let series = try stage.text(of: file).split(separator: "\n").filter { $0.contains("run_shard{") }
                    #expect(series.count == 1 && series[0].hasSuffix(#",index="\#(shard)",count="2"} 1"#), "\(series)")
                }
                #expect(counts.sorted() == [0, 3])
            }
        }
    }
}
