import OriginServer
import Testing

extension CommandTests {
    @Suite struct RetryTests {
        @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
        func `a temporary status is retried until it succeeds`(status: Int) async throws {
            try await withStage { stage in
                let url = stage.urls(5..<6, "status=\(status)&times=2&retry-after=0")[0]
                let result = try await stage.run("get", url)
                #expect(result.status == 0 && result.output == CoverImage.jpeg(number: 5), "\(result)")
                #expect(stage.origin.requestCount == 3)
            }
        }

        @Test(arguments: ["reset", "close", "truncate"])
        func `a broken connection is retried`(fault: String) async throws {
            try await withStage { stage in
                let result = try await stage.run("get", stage.urls(5..<6, "fault=\(fault)&times=1")[0])
                #expect(result.status == 0 && result.output == CoverImage.jpeg(number: 5), "\(result)")
            }
        }

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

        @Test(arguments: ["status=404", "status=400", "status=403", "fault=html", "fault=loop&redirect-status=308"])
        func `a permanent failure is not retried`(query: String) async throws {
            try await withStage { stage in
                let result = try await stage.run("prefetch", try stage.list(stage.urls(5..<6, query)))
                #expect(result.status == 3)
                #expect(stage.origin.requestCount == (query.contains("loop") ? 11 : 1))
            }
        }

        @Test func `Retry-After delays the retry`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(5..<6, "status=503&times=1&retry-after=1"))
                let result = try await stage.run("prefetch", list, "--json")
                let summary = try result.summary()
                #expect(summary.downloaded == 1 && summary.seconds >= 1, "\(result)")
            }
        }

        @Test func `a long Retry-After fails the cover at once`() async throws {
            try await withStage { stage in
                let result = try await stage.run("get", stage.urls(5..<6, "status=429&retry-after=3600")[0])
                #expect(result.status == 3)
                #expect(result.stderr.contains("asks to wait 3600 s"), "\(result)")
                #expect(stage.origin.requestCount == 1)
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
