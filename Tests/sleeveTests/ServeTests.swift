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

        @Test func `a mirror answers curl, and its covers are available to other commands offline`()
            async throws
        {
            try await withStage { stage in
                let serve = try stage.start(
                    "serve", "--mirror", stage.origin.url, "--port", "0", "--log-level", "debug")
                let url = try #require(await serve.firstOutputLine())
                let twice = try await stage.shell(
                    "for i in 1 2; do curl -sS -D - -o \"$1\" \"$2\"; done", stage.folder + "/a.jpg",
                    url + "covers/1.jpg")
                #expect(twice.stdout.contains("Cache-Status: sleeve; fwd=uri-miss; stored\r\n"), "\(twice)")
                #expect(twice.stdout.contains("Cache-Status: sleeve; hit; ttl="), "\(twice)")
                let refused = try await stage.shell("curl -sS -x \"$1\" http://example.org/", url)
                #expect(
                    refused.stdout.contains("does not answer for other servers") && stage.origin.requestCount == 1,
                    "\(refused)")
                serve.kill(SIGTERM)
                let ended = await serve.exit()
                #expect(ended.status == 143 && ended.stderr.contains("GET /covers/1.jpg 200 sleeve; hit"), "\(ended)")
                let offline = try await stage.run(
                    "get", "--offline", stage.origin.coverURL(1), "-o", stage.folder + "/b.jpg")
                #expect(offline.status == 0, "\(offline)")
                let same = try await stage.shell("cmp \"$1/a.jpg\" \"$1/b.jpg\"", stage.folder)
                #expect(same.status == 0)
                #expect(try await stage.entries().map(\.url) == [stage.origin.coverURL(1)])
            }
        }

        @Test func `a response that a mirror reported as stored survives kill -9`() async throws {
            try await withStage { stage in
                let serve = try stage.start("serve", "--mirror", stage.origin.url, "--port", "0")
                let url = try #require(await serve.firstOutputLine())
                let told = try await stage.shell("curl -sS -D - -o /dev/null \"$1\"", url + "covers/2.jpg")
                serve.kill(SIGKILL)
                _ = await serve.exit()
                #expect(told.stdout.contains("; stored"))
                let offline = try await stage.run(
                    "get", "--offline", stage.origin.coverURL(2), "-o", stage.folder + "/c.jpg")
                #expect(offline.status == 0, "\(offline)")
            }
        }

        @Test(arguments: [
            ["--mirror", "example.org"], ["--mirror", "http://127.0.0.1:1/?q"],
            ["--mirror", "http://127.0.0.1:1", "--token", "0123456789abcdef"],
            ["--mirror", "http://127.0.0.1:1", "--listen", "0.0.0.0:0"],
            ["--mirror", "http://127.0.0.1:1", "--rate", "1"],
        ]) func `a mirror with an invalid origin or invalid options is rejected`(options: [String]) async throws {
            try await withStage { stage in
                let result = try await run(["serve"] + options, environment: stage.environment)
                #expect(
                    result.status == 64 && result.stdout.isEmpty && !result.stderr.isEmpty, "\(result)")
            }
        }

        @Test(arguments: [
            ["--retries", "3"], ["--library", "x.json"], ["--json"], ["--size", "250"], ["--rate", "1"],
            ["--cover-art-archive", "http://127.0.0.1:1"], ["--allow-downgrade"], ["--fixed"],
            ["--remote", "http://127.0.0.1:1"],
        ]) func `an option without effect on a mirror is rejected, with advice`(options: [String]) async throws {
            try await withStage { stage in
                let result = try await run(
                    ["serve", "--mirror", "http://127.0.0.1:1", "--port", "0"] + options,
                    environment: stage.environment)
                #expect(result.status == 64 && result.stdout.isEmpty, "\(result)")
                #expect(result.stderr.contains("Error: ") && result.stderr.contains(options[0]), "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder).isEmpty)
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
