import Foundation
import OriginServer
import Testing

extension CommandTests {
    @Suite struct ServeTests {
        @Test func `serve prints its address first, answers there, and exits with 128 plus the signal`()
            async throws
        {
            try await withStage { stage in
                let serve = try stage.start("serve", "--port", "0")
                let url = try #require(await serve.firstOutputLine())
                let page = try await stage.shell("curl -sS \"$1\"", url)
                #expect(page.stdout.contains("<title>Sleeve</title>"), "\(page)")
                serve.kill(SIGTERM)
                let ended = await serve.exit()
                #expect(ended.status == 143 && ended.signal == nil, "\(ended)")
                #expect(ended.stderr.contains("press Ctrl-C to stop"))
            }
        }

        @Test func `other machines need a token, which the printed address holds`() async throws {
            try await withStage { stage in
                let refused = try await stage.run("serve", "--port", "0", "--listen", "0.0.0.0")
                #expect(refused.status == 64 && refused.stderr.contains("--token"), "\(refused)")
                let serve = try stage.start("serve", "--listen", "0.0.0.0:0", "--token", "0123456789abcdef")
                let url = try #require(await serve.firstOutputLine())
                #expect(url.hasSuffix("/?token=0123456789abcdef"))
                let port = url.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
                let without = try await stage.shell(
                    "curl -sS -o /dev/null -w '%{http_code}' \"$1\"", "http://127.0.0.1:\(port)/")
                #expect(without.stdout == "401")
                serve.kill(SIGINT)
                #expect(await serve.exit().status == 130)
            }
        }

        @Test(arguments: [
            ["--port", "70000"], ["--listen", ""], ["--listen", "1.2.3.4:x"], ["--token", "has blanks in it, it does"],
        ]) func `wrong options are reported`(options: [String]) async throws {
            try await withStage { stage in
                let result = try await run(["serve"] + options, environment: stage.environment)
                #expect([1, 64].contains(result.status), "\(result)")
            }
        }

        @Test func `a port in use is reported`() async throws {
            try await withStage { stage in
                let result = try await stage.run("serve", "--port", "\(stage.origin.port)")
                #expect(
                    result.status == 1 && result.stderr.contains("cannot listen on 127.0.0.1:\(stage.origin.port)"),
                    "\(result)")
            }
        }
    }
}
