import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct RetryTests {
        @Test(arguments: [0, 1, 2])
        func `--retries limits the retries`(retries: Int) async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(5..<6, "status=503&times=9&retry-after=0"))
                let result = try await stage.run("prefetch", list, "--retries", "\(retries)")
                #expect(result.status == 3)
                #expect(result.stderr.contains("the server answered 503"), "\(result)")
                #expect(stage.origin.requestCount == retries + 1)
            }
        }

        @Test func `retries are logged at the debug level`() async throws {
            try await withStage { stage in
                let url = stage.urls(5..<6, "status=503&times=1&retry-after=0")[0]
                let told = try await stage.run("get", url, "--log-level", "debug")
                #expect(told.stderr.contains("trying again"), "\(told)")
                let other = stage.urls(6..<7, "status=503&times=1&retry-after=0")[0]
                let untold = try await stage.run("get", other)
                #expect(untold.status == 0 && untold.stderr.isEmpty, "\(untold)")
            }
        }
    }
}
