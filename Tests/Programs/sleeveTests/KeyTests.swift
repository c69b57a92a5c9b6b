import OriginServer
import SleeveStage
import Testing
import Wire

extension CommandTests {
    /// `--key-ignores`.
    @Suite struct KeyTests {
        @Test func `URLs that differ only in ignored parameters are one cover, and the first is requested as written`()
            async throws
        {
            try await withStage { stage in
                let base = stage.origin.coverURL(1)
                let list = try stage.list([
                    "\(base)?size=4000&sig=a&v=1", "\(base)?v=2&size=4000&sig=b", "\(base)?size=5000",
                ])
                let result = try await stage.run("prefetch", list, "--key-ignores", "sig,v", "--json")
                let summary = try result.summary()
                #expect(summary.downloaded == 2 && summary.joined + summary.fresh == 1, "\(result)")
                #expect(Set(try await stage.entries().map(\.url)) == ["\(base)?size=4000", "\(base)?size=5000"])
                let other = try await stage.run(
                    "get", "--offline", "--path", "\(base)?sig=c&size=4000", "--key-ignores", "sig,v")
                #expect(other.status == 0, "\(other)")
                #expect(try await stage.run("get", "--offline", "--path", "\(base)?size=4000").status == 0)
                #expect(try await stage.run("get", "--offline", "--path", "\(base)?size=4000&sig=a").status == 3)
                let removed = try await stage.run("cache", "remove", "\(base)?size=4000&v=9", "--key-ignores", "v")
                #expect(removed.status == 0, "\(removed)")
            }
        }

        @Test(arguments: [403, 404])
        func `of two addresses of one cover, the second is tried where the first fails`(status: Int) async throws {
            try await withStage { stage in
                let image = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
                try await withScriptedServer { request in
                    request.head.contains("sig=old")
                        ? httpResponse("\(status) No", [], []) : httpResponse("200 OK", [], image)
                } _: { server in
                    let list = try stage.list(["old", "new", "old"].map { "\(server.url)/1?sig=\($0)" })
                    let result = try await stage.run("prefetch", list, "--key-ignores", "sig", "--json")
                    let summary = try result.summary()
                    #expect(result.status == 3 && summary.downloaded == 1 && summary.failed == 2, "\(result)")
                }
            }
        }

        @Test func `a refresh requests the URL without ignored parameters`() async throws {
            try await withStage { stage in
                let url = stage.origin.coverURL(1)
                #expect(
                    try await stage.run("get", "\(url)?sig=a", "--key-ignores", "sig", "-o", "/dev/null").status == 0)
                let refresh = try await stage.run("refresh", "--all", "--json")
                #expect(try refresh.summary().revalidated == 1, "\(refresh)")
            }
        }
    }
}
