import Foundation
import OriginServer
import SleeveStage
import Synchronization
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

        @Test(arguments: ["/1.svg?token=hush", "/rest/getCoverArt?u=me&t=hush&s=salt&id=1"])
        func `a refresh leaves covers out whose keys lack parameters, and a prefetch of their addresses checks them`(
            target: String
        ) async throws {
            try await withStage { stage in
                let isNew = Atomic(false)
                // Another picture for strangers.
                let listener = try Listener { head in
                    let side = !head.contains("hush") ? 16 : isNew.load(ordering: .relaxed) ? 301 : 300
                    let image = "<svg xmlns='http://www.w3.org/2000/svg' width='\(side)' height='\(side)'/>"
                    return
                        "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=0\r\nContent-Length: \(image.utf8.count)\r\n\r\n\(image)"
                }
                defer { listener.stop() }
                func shows(_ side: Int) async throws -> Bool {
                    let file = stage.folder + "/cover.svg"
                    let result = try await stage.run(
                        "get", "--offline", listener.url + target, "--key-ignores", "token", "-o", file)
                    #expect(result.stderr.contains("a prefetch of the list with its whole address"), "\(result)")
                    return try result.status == 0 && stage.text(of: file).contains("width='\(side)'")
                }
                let list = try stage.list([listener.url + target, listener.url + target])
                let prefetch = ["prefetch", list, "--key-ignores", "token"]
                #expect(try await SleeveStage.run(prefetch, environment: stage.environment).status == 0)
                for budget in [[], ["--max-requests", "5"]] {
                    let refresh = try await SleeveStage.run(
                        ["refresh", "--all"] + budget, environment: stage.environment)
                    #expect(refresh.status == 0 && refresh.stdout.contains("1 left out"), "\(refresh)")
                    #expect(try await shows(300))
                }
                isNew.store(true, ordering: .relaxed)
                let changed = try await SleeveStage.run(prefetch + ["--json"], environment: stage.environment)
                #expect(try changed.summary().downloaded == 1 && changed.status == 0, "\(changed)")
                #expect(try await shows(301))
                // What is cached is no failure of a prefetch, as before.
                listener.stop()
                let lost = try await SleeveStage.run(
                    prefetch + ["--retries", "0", "--json"], environment: stage.environment)
                #expect(try lost.summary().failed == 0 && lost.status == 0, "\(lost)")
                #expect(try await shows(301))
            }
        }
    }
}
