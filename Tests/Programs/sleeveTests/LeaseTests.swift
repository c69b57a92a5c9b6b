import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension CacheCommandTests {
    /// Several processes that want the same covers.
    @Suite struct LeaseTests {
        @Test(arguments: [2, 8])
        func `processes that prefetch one list side by side request each URL once`(count: Int) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<200, "size=1000&delay=5"))
                let children = try (0..<count).map { _ in try stage.start("prefetch", list, "--json") }
                var downloaded = 0
                for child in children {
                    let result = await child.exit()
                    #expect(result.status == 0, "\(result)")
                    let summary = try result.summary()
                    #expect(summary.downloaded + summary.fresh == 200, "\(result)")
                    downloaded += summary.downloaded
                }
                #expect(downloaded == 200 && stage.origin.requestCount == 200)
                #expect(try await stage.entries().count == 200)
                #expect(try await stage.run("cache", "verify").status == 0)
                #expect(try await stage.stats().chargedBytes == 200 * 4_096)
            }
        }

        @Test func `processes with overlapping lists request each URL once, whatever the order`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<240, "size=1000&delay=5")
                let lists = try [urls[..<160], urls[80...], urls[40..<200]].enumerated().map { number, part in
                    try stage.list(number == 1 ? part.reversed() : Array(part), name: "list-\(number)")
                }
                let children = try lists.map { try stage.start("prefetch", $0, "--json") }
                for child in children {
                    let result = await child.exit()
                    let summary = try result.summary()
                    #expect(result.status == 0 && summary.downloaded + summary.fresh == 160, "\(result)")
                }
                #expect(stage.origin.requestCount == 240)
            }
        }

        @Test func `two processes that get one URL share a request`() async throws {
            try await withStage { stage in
                let url = stage.urls(1..<2, "size=1000&delay=500")[0]
                let children = try (0..<2).map { _ in try stage.start("get", url) }
                for child in children {
                    let result = await child.exit()
                    #expect(result.status == 0 && result.output == CoverImage.jpeg(number: 1, aboutBytes: 1_000))
                }
                #expect(stage.origin.requestCount == 1)
            }
        }

        @Test(arguments: [SIGKILL, SIGSTOP])
        func `what a killed or stopped process was downloading, another one downloads`(signal: Int32) async throws {
            try await withStage { stage in
                let (shared, others) = (stage.urls(0..<20, "hold=1"), stage.urls(100..<150))
                let holder = try stage.start("prefetch", try stage.list(shared, name: "shared"))
                try await eventually { stage.origin.requestCount == 20 }
                let list = try stage.list(shared + others)
                let child = try stage.start("prefetch", list, "--json", "--timeout", "10")
                try await eventually { (100..<150).allSatisfy { stage.requestCount($0) >= 1 } }
                #expect((0..<20).allSatisfy { stage.requestCount($0) == 1 }, "the list goes on")
                holder.kill(signal)
                try await eventually { (0..<20).allSatisfy { stage.requestCount($0) >= 2 } }
                stage.origin.release()
                let result = await child.exit()
                #expect(result.status == 0, "\(result)")
                #expect(try result.summary().downloaded == 70)
            }
        }

        @Test func `without a usable folder of leases everything is downloaded`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(20..<21))
                try? FileManager.default.removeItem(atPath: stage.cache + "/leases")
                try Data("something else".utf8).write(to: URL(filePath: stage.cache + "/leases"))
                try await stage.fill(stage.urls(0..<20))
                #expect(try await stage.entries().count == 21)
            }
        }
    }
}

extension Stage {
    /// The number of requests that the origin received for a cover.
    fileprivate func requestCount(_ number: Int) -> Int { origin.requestCount(path: "/covers/\(number).jpg") }
}
