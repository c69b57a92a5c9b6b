import Foundation
import OriginServer
import Platform
import SleeveStage
import Testing
import Wire

extension CacheCommandTests {
    @Suite struct TierTests {
        /// The summary of a run with a tier.
        private struct TierSummary: Decodable {
            var requested, downloaded, fresh, failed, fromTier, tierStored, tierFailed, tierUnsuitable, tierDamaged: Int
        }
        private struct TierLine: Decodable {
            var url, outcome: String
            var tier: String?
        }
        private struct PushLine: Decodable { var put, kept, unsuitable, failed: Int }

        private func tier(of stage: Stage) throws -> String {
            let path = stage.folder + "/tier"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }

        /// Prefetches into the cache of a machine, with a tier.
        private func prefetch(
            _ stage: Stage, _ list: String, machine: Int, tier: String? = nil, _ options: String...
        ) async throws -> RunResult {
            try await run(
                ["prefetch", list, "--json", "--tier", tier ?? self.tier(of: stage), "--cache", cache(stage, machine)]
                    + options, environment: stage.environment)
        }

        private func cache(_ stage: Stage, _ machine: Int) -> String { stage.folder + "/machine-\(machine)" }

        private func entries(_ tier: String) throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: tier + "/entries").filter { $0.utf8.count > 64 }
        }

        @Test func `a second machine gets every cover from the tier, and asks no server`() async throws {
            try await withStage { stage in
                let (tier, list) = (
                    try tier(of: stage), try stage.list(stage.urls(0..<20) + stage.urls(20..<24, "same=7"))
                )
                let report = stage.folder + "/report.jsonl"
                let first = try await prefetch(stage, list, machine: 1, "--report", report)
                let summary: TierSummary = try first.json()
                #expect(first.status == 0 && summary.downloaded == 24, "\(first)")
                #expect(summary.tierStored == 24 && summary.fromTier == 0 && summary.tierFailed == 0)
                let lines: [TierLine] = try jsonLines(stage.text(of: report))
                #expect(lines.count == 24 && lines.allSatisfy { $0.tier == "stored" && $0.outcome == "downloaded" })

                let requests = stage.origin.requestCount
                let second = try await prefetch(stage, list, machine: 2, "--report", report)
                let shared: TierSummary = try second.json()
                #expect(second.status == 0 && shared.fromTier == 24 && shared.fresh == 24, "\(second)")
                #expect(stage.origin.requestCount == requests && shared.tierStored == 0)
                let found: [TierLine] = try jsonLines(stage.text(of: report))
                #expect(found.count == 24 && found.allSatisfy { $0.tier == "hit" && $0.outcome == "fresh" })
                var listings: [[Substring]] = []
                for machine in 1...2 {
                    let environment = stage.environment.merging(["SLEEVE_CACHE": cache(stage, machine)]) { $1 }
                    let listing = try await run(["cache", "list", "--json"], environment: environment)
                    listings.append(listing.stdout.split(separator: "\n").sorted())
                    #expect(try await run(["cache", "verify"], environment: environment).status == 0)
                }
                #expect(listings[0] == listings[1] && listings[0].count == 24)

                #expect(try entries(tier).count == 24)
                let cover = CoverImage.jpeg(number: 3, aboutBytes: 4_000)
                let name = Digest(of: cover).description
                let file = URL(filePath: "\(tier)/covers/\(name.prefix(2))/\(name)")
                #expect(try Array(Data(contentsOf: file)) == cover, "any program can open it")
            }
        }

        @Test func `covers of a list larger than the cache count when the tier has them`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<24, "size=1500000"))
                let first = try await prefetch(stage, list, machine: 1, "--capacity", "16M")
                let summary: TierSummary = try first.json()
                #expect(first.status == 0 && summary.downloaded == 24 && summary.tierStored == 24, "\(first)")
                let requests = stage.origin.requestCount
                let second = try await prefetch(stage, list, machine: 1, "--capacity", "16M")
                let again: TierSummary = try second.json()
                #expect(second.status == 0 && again.fresh == 24 && again.fromTier > 0, "\(second)")
                #expect(stage.origin.requestCount == requests)
            }
        }

        @Test func `the tier has the covers of a server that asks for a pause`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<12)
                #expect(try await prefetch(stage, stage.list(urls), machine: 1).status == 0)
                let report = stage.folder + "/report.jsonl"
                // Of the server, one request in 100 seconds.
                let child = try stage.start(
                    "prefetch", "-", "--tier", tier(of: stage), "--cache", cache(stage, 2), "--rate", "0.01",
                    "--report",
                    report, "--json", stdin: .open)
                child.send(stage.urls(13..<14, "status=503&retry-after=3600")[0] + "\n")
                try await eventually { (try? stage.text(of: report).isEmpty) == false }
                let requests = stage.origin.requestCount
                child.send(urls.map { $0 + "\n" }.joined())
                child.closeInput()
                let result = await child.exit()
                let summary: TierSummary = try result.json()
                #expect(result.status == 3 && summary.fromTier == 12 && summary.failed == 1, "\(result)")
                #expect(stage.origin.requestCount == requests)
            }
        }

        @Test func `damaged covers of a tier reach no cache, are downloaded, and are whole afterwards`() async throws {
            try await withStage { stage in
                let (tier, urls) = (try tier(of: stage), stage.urls(0..<16))
                let list = try stage.list(urls)
                #expect(try await prefetch(stage, list, machine: 1).status == 0)
                for number in 0..<12 {
                    let name = Digest(of: CoverImage.jpeg(number: number, aboutBytes: 4_000)).description
                    let file = URL(filePath: "\(tier)/covers/\(name.prefix(2))/\(name)")
                    let hash = Digest(of: urls[number].utf8).description
                    let entry = URL(filePath: "\(tier)/entries/\(hash.prefix(2))/\(hash)")
                    var bytes = try Data(contentsOf: file)
                    switch number % 4 {
                    case 0: bytes[1_000] ^= 1
                    case 1: bytes.removeLast(700)
                    case 2:
                        let other = Digest(of: urls[15].utf8).description
                        try Data(contentsOf: URL(filePath: "\(tier)/entries/\(other.prefix(2))/\(other)")).write(
                            to: entry)
                    default: try Data("{}\n".utf8).write(to: entry)
                    }
                    try bytes.write(to: file)
                }
                let requests = stage.origin.requestCount
                let second: TierSummary = try await prefetch(stage, list, machine: 2).json()
                #expect(second.fromTier == 4 && second.tierDamaged == 12 && second.tierStored == 12)
                #expect(stage.origin.requestCount == requests + 12)
                let third: TierSummary = try await prefetch(stage, list, machine: 3).json()
                #expect(third.fromTier == 16 && stage.origin.requestCount == requests + 12)
                let whole = (0..<16).map { Digest(of: CoverImage.jpeg(number: $0, aboutBytes: 4_000)).description }
                for machine in 2...3 {
                    let environment = stage.environment.merging(["SLEEVE_CACHE": cache(stage, machine)]) { $1 }
                    #expect(try await run(["cache", "verify"], environment: environment).status == 0)
                    let entries: [ListLine] = try await run(["cache", "list", "--json"], environment: environment)
                        .lines()
                    #expect(entries.map(\.digest).sorted() == whole.sorted())
                }
            }
        }

        @Test func `without its tier a run downloads every cover and exits with 3, and push mends the tier`()
            async throws
        {
            try await withStage { stage in
                let (tier, urls) = (try tier(of: stage), stage.urls(0..<20))
                let (list, report) = (try stage.list(urls), stage.folder + "/report.jsonl")
                let child = try stage.start(
                    "prefetch", "-", "--tier", tier, "--report", report, "--json", stdin: .open)
                child.send(urls[..<10].map { $0 + "\n" }.joined())
                try await eventually { (try? stage.text(of: report).split(separator: "\n").count) == 10 }
                try FileManager.default.moveItem(atPath: tier, toPath: tier + "-away")
                // Where the disk was mounted.
                try FileManager.default.createDirectory(atPath: tier, withIntermediateDirectories: false)
                child.send(urls[10...].map { $0 + "\n" }.joined())
                child.closeInput()
                let result = await child.exit()
                let summary: TierSummary = try result.json()
                #expect(result.status == 3 && summary.downloaded == 20 && summary.failed == 0, "\(result)")
                #expect(summary.tierStored == 10 && summary.tierFailed == 10)
                #expect(result.stderr.split(separator: "\n").count <= 3, "\(result)")
                let lines: [TierLine] = try jsonLines(stage.text(of: report))
                #expect(lines.count { $0.tier == "failed" } == 10 && lines.count { $0.tier == "stored" } == 10)

                #expect(try FileManager.default.contentsOfDirectory(atPath: tier).isEmpty)
                try FileManager.default.removeItem(atPath: tier)
                try FileManager.default.moveItem(atPath: tier + "-away", toPath: tier)
                let pushed: PushLine = try await stage.run("cache", "push", "--tier", tier, "--json").json()
                #expect(pushed.put == 10 && pushed.kept == 10 && pushed.failed == 0)
                let before = try modified(tier)
                let again: PushLine = try await stage.run("cache", "push", "--tier", tier, "--json").json()
                #expect(again.put == 0 && again.kept == 20)
                #expect(try modified(tier) == before, "nothing is written again")
                let requests = stage.origin.requestCount
                #expect(requests == 20)
                let other: TierSummary = try await prefetch(stage, list, machine: 2, tier: tier).json()
                #expect(other.fromTier == 20 && stage.origin.requestCount == requests)
            }
        }

        /// When each entry and cover was written.
        private func modified(_ tier: String) throws -> [String: Date] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: tier).filter { $0.utf8.count > 64 }
            return try names.reduce(into: [:]) { times, name in
                times[name] =
                    try FileManager.default.attributesOfItem(atPath: "\(tier)/\(name)")[.modificationDate] as? Date
            }
        }

        @Test func `push puts a selection of what a cache had before its tier`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<6)
                try await stage.fill(urls)
                let tier = try tier(of: stage)
                let one: PushLine = try await stage.run(
                    "cache", "push", "--tier", tier, "--matching", "*/4.jpg*", "--json"
                )
                .json()
                #expect(one.put == 1 && one.kept == 0)
                let rest: PushLine = try await stage.run("cache", "push", "--tier", tier, "--json").json()
                #expect(rest.put == 5 && rest.kept == 1)
                let renewed = try await stage.run("refresh", "--all", "--tier", tier, "--json")
                #expect(renewed.status == 0, "\(renewed)")
                let newer: PushLine = try await stage.run("cache", "push", "--tier", tier, "--json").json()
                #expect(newer.put == 6, "a later validation is put, too")
                let none = try await stage.run("cache", "push")
                #expect(none.status == 64 && none.stderr.contains("--tier"), "\(none)")
            }
        }

        @Test func `a tier that cannot be used is an error before anything is downloaded`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<3))
                let missing = try await prefetch(stage, list, machine: 1, tier: stage.folder + "/none")
                #expect(missing.status == 1 && missing.stderr.contains("cannot be used"), "\(missing)")
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/none"))
                let cache = try await prefetch(stage, list, machine: 1, tier: cache(stage, 1))
                #expect(cache.status == 1 && cache.stderr.contains("as a cache has"), "\(cache)")
                #expect(stage.origin.requestCount == 0)
                // One cover is worth more than the tier.
                let got = try await stage.run(
                    "get", stage.urls(0..<1)[0], "--tier", stage.folder + "/none", "-o", stage.folder + "/a.jpg")
                #expect(got.status == 0 && got.stderr.contains("none"), "\(got)")
            }
        }

        @Test func `a read-only tier is read, and nothing is put there`() async throws {
            try await withStage { stage in
                let (tier, urls) = (try tier(of: stage), stage.urls(0..<6))
                let half = try stage.list(Array(urls[..<3]), name: "half.txt")
                #expect(try await prefetch(stage, half, machine: 1).status == 0)
                let result = try await prefetch(stage, stage.list(urls), machine: 2, "--tier-read-only")
                let summary: TierSummary = try result.json()
                #expect(result.status == 0 && summary.fromTier == 3 && summary.downloaded == 3, "\(result)")
                #expect(summary.tierStored == 0 && summary.tierFailed == 0)
                #expect(try entries(tier).count == 3)
            }
        }

        @Test func `private covers stay in the cache`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<2, "cache-control=private,max-age%3D60") + stage.urls(2..<3)
                let result = try await prefetch(stage, stage.list(urls), machine: 1)
                let summary: TierSummary = try result.json()
                #expect(result.status == 0 && summary.tierUnsuitable == 2 && summary.tierStored == 1, "\(result)")
                #expect(try entries(tier(of: stage)).count == 1)
            }
        }

        @Test func `get uses the tier of the environment`() async throws {
            try await withStage { stage in
                let (tier, url) = (try tier(of: stage), stage.origin.coverURL(1))
                for machine in 1...2 {
                    let got = try await run(
                        ["get", url, "-o", stage.folder + "/\(machine).jpg", "--cache", cache(stage, machine)],
                        environment: stage.environment.merging(["SLEEVE_TIER": tier]) { $1 })
                    #expect(got.status == 0 && stage.origin.requestCount == 1, "\(got)")
                }
            }
        }

        @Test func `processes that put the same covers at once, and are killed, leave every entry whole`() async throws
        {
            try await withStage { stage in
                let (tier, count) = (try tier(of: stage), isThorough ? 200 : 24)
                let list = try stage.list(stage.urls(0..<count))
                let children = try (0..<(isThorough ? 8 : 4)).map { machine in
                    try stage.start(
                        "prefetch", list, "--quiet", "--tier", tier, "--cache", cache(stage, machine), "--parallel", "8"
                    )
                }
                for (number, child) in children.enumerated() where number % 2 == 0 {
                    let wanted = count * (number + 1) / (children.count + 2)
                    try await eventually { (try? entries(tier).count) ?? 0 >= wanted || !child.isRunning }
                    child.kill(SIGKILL)
                }
                for (number, child) in children.enumerated() {
                    let result = await child.exit()
                    if number % 2 == 1 { #expect(result.status == 0, "\(result)") }
                }
                #expect(try entries(tier).filter { !$0.hasSuffix(".part") }.count == count)
                let requests = stage.origin.requestCount
                let last: TierSummary = try await prefetch(stage, list, machine: 9).json()
                #expect(last.fromTier == count && last.tierDamaged == 0 && stage.origin.requestCount == requests)
            }
        }

        @Test func `the metrics tell what came from the tier, and which shard ran`() async throws {
            try await withStage { stage in
                let (list, file) = (try stage.list(stage.urls(0..<5)), stage.folder + "/sleeve.prom")
                let result = try await prefetch(stage, list, machine: 1, "--metrics-file", file, "--shard", "0/1")
                #expect(result.status == 0, "\(result)")
                let text = try stage.text(of: file)
                #expect(text.contains(#"command="prefetch",result="stored"} 5"#), "\(text)")
                #expect(text.contains(#"command="prefetch",index="0",count="1"} 1"#), "\(text)")
                let other = try await prefetch(stage, list, machine: 2, "--metrics-file", file)
                #expect(other.status == 0)
                #expect(try stage.text(of: file).contains(#"result="hit"} 5"#))
                #expect(try stage.text(of: file).contains(#"result="stored"} 5"#), "another cache's series stay")
            }
        }
    }
}
