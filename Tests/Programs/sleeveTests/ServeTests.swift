import Foundation
import OriginServer
import SleeveStage
import Testing

extension CommandTests {
    @Suite struct ServeTests {
        /// The body and the status of a response: `<title>…\n200`.
        private func get(_ url: String, _ options: String..., on stage: Stage) async throws -> String {
            let words = ["curl", "-sSL", "-w", "\n%{http_code}"] + options
            return try await stage.shell(
                "jar=$(mktemp); \(words.map { "'\($0)'" }.joined(separator: " ")) -b \"$jar\" -c \"$jar\" \"$1\"; rm \"$jar\"",
                url
            ).stdout
        }

        @Test func `serve prints its address first, answers there, and exits with 128 plus the signal`()
            async throws
        {
            try await withStage { stage in
                let serve = try stage.start("serve", "--port", "0")
                let url = try #require(await serve.firstOutputLine())
                let page = try await get(url, on: stage)
                #expect(page.contains("<title>Sleeve</title>") && page.hasSuffix("\n200"), "\(page)")
                serve.kill(SIGTERM)
                let ended = await serve.exit()
                #expect(ended.status == 143 && ended.signal == nil, "\(ended)")
                #expect(ended.stderr.contains("press Ctrl-C to stop"))
            }
        }

        @Test func `the address has a token, which is the same after a restart, and without which nothing answers`()
            async throws
        {
            try await withStage { stage in
                var tokens: Set<Substring> = []
                for _ in 0..<2 {
                    let serve = try stage.start("serve", "--port", "0")
                    let url = try #require(await serve.firstOutputLine())
                    let parts = url.split(separator: "?token=")
                    try #require(parts.count == 2 && parts[1].count == 32, "\(url)")
                    tokens.insert(parts[1])
                    #expect(try await get(String(parts[0]), on: stage).hasSuffix("\n401"))
                    #expect(try await get("\(parts[0])api/library", on: stage).hasSuffix("\n401"))
                    let bearer = "Authorization: Bearer \(parts[1])"
                    #expect(try await get("\(parts[0])api/library", "-H", bearer, on: stage).hasSuffix("\n200"))
                    serve.kill(SIGTERM)
                    _ = await serve.exit()
                }
                #expect(tokens.count == 1)
            }
        }

        @Test(arguments: ["127.0.0.1", "LocalHost", "[::1]", "music.example"])
        func `a gallery that would send its edits to itself says so, and remembers nothing`(host: String) async throws {
            try await withStage { stage in
                let serve = try await stage.run(
                    "serve", "--port", "8730", "--server-name", "music.example", "--remote", "http://\(host):8730/")
                #expect(serve.status == 1 && serve.stderr.contains("is this gallery itself"), "\(serve)")
                #expect(try await stage.run("album", "remote", "--quiet").stdout.isEmpty)
            }
        }

        @Test func `the library remembers the gallery's remote library, to which later commands send what is queued`()
            async throws
        {
            try await withStage { stage in
                let serve = try stage.start("serve", "--port", "0", "--remote", "http://127.0.0.1:1/music")
                _ = try #require(await serve.firstOutputLine())
                #expect(try await stage.run("album", "remote").stdout == "http://127.0.0.1:1/music\n")
                serve.kill(SIGTERM)
                _ = await serve.exit()
                #expect(try await stage.run("album", "remote").stdout == "http://127.0.0.1:1/music\n")
            }
        }

        @Test(arguments: [true, false])
        func `the gallery's runs start after its program was replaced or removed`(isReplaced: Bool) async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<1))
                let program = stage.folder + "/sleeve"
                try FileManager.default.copyItem(atPath: sleeveBinary, toPath: program)
                let serve = try Child(
                    program, ["serve", "--port", "0", "--no-token"], environment: stage.environment)
                let url = try #require(await serve.firstOutputLine())
                if isReplaced { try Data().write(to: URL(filePath: program + ".new")) }
                let change = isReplaced ? "mv \"$1.new\" \"$1\"" : "rm \"$1\""
                #expect(try await stage.shell(change, program).status == 0)
                let ran = try await stage.shell(
                    """
                    curl -sN "$1api/events?page=page-0001" >"$HOME/events" & events=$!
                    until [ -s "$HOME/events" ]; do sleep 0.05; done
                    curl -s -w '%{http_code}\\n' -H "Origin: ${1%/}" -H 'Content-Type: application/json' -d '{}' "$1api/runs/refresh"
                    until grep '"running":null.*"name":"refresh"' "$HOME/events"; do sleep 0.05; done
                    kill $events
                    """, url
                ).stdout
                #expect(ran.contains("202\n") && ran.contains("\"result\":{"), "\(ran)")
                serve.kill(SIGTERM)
                _ = await serve.exit()
            }
        }

        @Test func `a token of one's own counts, and none is needed if --no-token says so`() async throws {
            try await withStage { stage in
                let serve = try stage.start("serve", "--listen", "0.0.0.0:0", "--token", "0123456789abcdef")
                let url = try #require(await serve.firstOutputLine())
                #expect(url.hasSuffix("/?token=0123456789abcdef"))
                let port = url.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
                #expect(try await get("http://127.0.0.1:\(port)/", on: stage).hasSuffix("\n401"))
                serve.kill(SIGINT)
                #expect(await serve.exit().status == 130)
                let open = try stage.start("serve", "--port", "0", "--no-token")
                let address = try #require(await open.firstOutputLine())
                #expect(
                    address.hasSuffix("/")
                        && !FileManager.default.fileExists(atPath: stage.folder + "/albums.json.state/token"))
                #expect(try await get(address, on: stage).hasSuffix("\n200"))
                open.kill(SIGINT)
                _ = await open.exit()
            }
        }

        @Test(arguments: [
            ["--listen", "0.0.0.0"], ["--listen", "127.example.org"], ["--token", "0123456789abcdef"],
        ]) func `no token is for this machine alone`(options: [String]) async throws {
            try await withStage { stage in
                let result = try await run(
                    ["serve", "--port", "0", "--no-token"] + options, environment: stage.environment)
                #expect(result.status == 64 && result.stderr.contains("--no-token"), "\(result)")
            }
        }

        @Test(arguments: [
            (["--port", "70000"], "--port must be between 0 and 65535"),
            (["--listen", ""], "--listen needs an address or address:port"),
            (["--listen", "1.2.3.4:x"], "--listen needs an address or address:port"),
            (["--token", "has blanks in it, it does"], "the token must have at least 16 letters"),
            (["--token", "short"], "the token must have at least 16 letters"),
            (["--allow-private", "--deny-private"], "Use either --allow-private or --deny-private."),
        ]) func `wrong options are reported`(options: [String], message: String) async throws {
            try await withStage { stage in
                let result = try await run(["serve"] + options, environment: stage.environment)
                #expect(result.status == 64 && result.stderr.contains(message), "\(result)")
            }
        }
    }
}
