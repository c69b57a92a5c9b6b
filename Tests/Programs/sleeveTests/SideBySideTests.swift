import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension CacheCommandTests {
    /// Several processes that want the same covers.
    @Suite struct SideBySideTests {
        @Test(arguments: [2, 8])
        func `processes that prefetch one list side by side all have its covers, and the cache has each once`(
            count: Int
        ) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<200, "size=1000&delay=5"))
                let children = try (0..<count).map { _ in try stage.start("prefetch", list, "--json") }
                for child in children {
                    let result = await child.exit()
                    #expect(result.status == 0, "\(result)")
                    let summary = try result.summary()
                    #expect(summary.downloaded + summary.fresh == 200, "\(result)")
                }
                #expect(try await stage.entries().count == 200)
                #expect(try await stage.run("cache", "verify").status == 0)
                #expect(try await stage.stats().chargedBytes == 200 * 4_096)
            }
        }

        @Test func `a process waits for none that is stopped while it downloads the same covers`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<20, "hold=1"))
                let stopped = try stage.start("prefetch", list)
                try await eventually { stage.origin.requestCount == 20 }
                stopped.kill(SIGSTOP)
                let child = try stage.start("prefetch", list, "--json")
                try await eventually { stage.origin.requestCount == 40 }
                stage.origin.release()
                let result = await child.exit()
                #expect(result.status == 0, "\(result)")
                #expect(try result.summary().downloaded == 20)
            }
        }
    }
}
