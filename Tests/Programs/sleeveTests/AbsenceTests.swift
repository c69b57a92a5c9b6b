import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct AbsenceTests {
        @Test func `a remembered 404 is not requested again, by prefetch or get; --retry-missing does`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<2) + stage.urls(2..<3, "status=404&times=1"))
                let first = try await stage.run("prefetch", list, "--json")
                #expect(first.status == 3 && !first.stderr.contains("--retry-missing"))
                let second = try await stage.run("prefetch", list, "--json")
                #expect(second.status == 3)
                #expect(try second.summary().failed == 1 && second.summary().fresh == 2)
                #expect(second.stderr.contains("404") && second.stderr.contains("(--retry-missing asks again)"))
                #expect(stage.origin.requestCount(path: "/covers/2.jpg") == 1)
                let url = stage.urls(3..<4, "status=410&times=1")[0]
                #expect(try await stage.run("get", url, "-o", stage.folder + "/a").status == 3)
                let again = try await stage.run("get", url, "-o", stage.folder + "/a")
                #expect(again.status == 3 && again.stderr.contains("(--retry-missing asks again)"))
                #expect(try await stage.run("get", url, "-o", stage.folder + "/a", "--retry-missing").status == 0)
                let third = try await stage.run("prefetch", list, "--json", "--retry-missing")
                #expect(third.status == 0)
                #expect(try third.summary().downloaded == 1)
            }
        }
    }
}
