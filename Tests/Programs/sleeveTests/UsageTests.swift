import ArgumentParser
import CoverLibrary
import Foundation
import SleeveStage
import Testing
import Wire

@testable import sleeve

extension CommandTests {
    @Suite struct UsageTests {
        private static let wrong: [[String]] = [
            ["--no-such"], ["prefetch", "--no-such"], ["nonsense"], ["get"], ["get", "http://a/1", "http://a/2"],
            ["get", "http://a/1", "--json"], ["prefetch", "--shard=8/8"], ["prefetch", "--shard=a/b"],
            ["cache", "evict"], ["cache", "evict", "--to", "much"], ["cache", "evict", "--to", "-1"],
            ["prefetch", "--parallel", "0"],
            ["prefetch", "--parallel", "x"], ["prefetch", "--per-host", "-3"], ["prefetch", "--rate", "0"],
            ["prefetch", "--timeout", "0"], ["prefetch", "--retries", "-1"], ["prefetch", "--max-size", "0"],
            ["prefetch", "--capacity", "ten"], ["prefetch", "--capacity", "0"], ["prefetch", "--capacity", "10"],
            ["cache", "evict", "--to", "5"],
            ["prefetch", "--cache", ""],
            ["prefetch", "--timeout", "nan"], ["prefetch", "--timeout", "0.0004"], ["prefetch", "--rate", "1e-300"],
            ["prefetch", "--rate", "inf"], ["prefetch", "--log-level", "loud"],
            ["prefetch", "--report", "-"], ["refresh", "--metrics-file", "-"], ["prefetch", "--metrics-file", ""],
            ["cache", "pack"], ["cache", "pack", "-", "--json"], ["cache", "unpack"], ["cache", "pin", "--host", ""],
            ["origin", "--port", "70000"], ["origin", "--fault-every", "0"], ["origin", "--urls", "-1"],
            ["refresh", "--all", "--older-than", "1d"], ["refresh", "--older-than", "soon"], ["refresh", "--offline"],
            ["refresh", "--max-requests", "0"], ["refresh", "--matching", ""], ["refresh", "--max-time", "-1s"],
            ["refresh", "--jitter", "600"], ["refresh", "--max-time", "1e3"], ["prefetch", "--progress-interval", "5"],
            ["cache", "remove"], ["cache", "pin"], ["cache", "unpin"], ["cache", "remove", "--all", "--host", "a"],
            ["cache", "pin", "http://a/1", "--all"],
            ["get", "http://a/1", "--key-ignores", ""], ["prefetch", "--key-ignores", "a,,b"],
            ["cache", "pin", "--all", "--key-ignores", "a=b"], ["prefetch", "--key-ignores", "a&b"],
            ["bench", "--bytes", "1"], ["bench", "--", "--cache", "x"], ["bench", "--", "--report=x"],
            ["bench", "--", "-q"],
        ]
        private static let labCommands: [(String, [String])] = [
            ("link", ["<host:port>", "--link", "--loss", "--seed", "--port"]),
            ("sizes", ["<file>", "--size", "--rounds", "--write-to"]),
        ]
        private static let wrongLab: [[String]] = [
            ["link"], ["link", "a:1"], ["link", "a:1", "--link", "50ms"], ["link", "a", "--link", "5ms/1mbit"],
            ["link", "[::1]:x", "--link", "5ms/1mbit"], ["link", "a:1", "--link", "5ms/1mbit", "--loss", "60%"],
            ["sizes"],
        ]

        /// Those of `sleeve` are in `Help.txt`.
        @Test(arguments: labCommands)
        func `the help of a command of the laboratory names its options`(
            command: String, options: [String]
        ) async throws {
            try await withStage { stage in
                let help = try await Child(labBinary, [command, "--help"], environment: stage.environment).exit()
                #expect(help.status == 0 && help.stderr.isEmpty)
                for option in options { #expect(help.stdout.contains(option), "\(option)") }
            }
        }

        @Test func `--jsonl is a synonym of --json`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3))
                for command in ["list", "stats"] {
                    let lines = try await stage.run("cache", command, "--jsonl")
                    #expect(lines.status == 0 && lines.stdout.hasPrefix("{"), "\(lines)")
                    #expect(try await stage.run("cache", command, "--json").stdout == lines.stdout)
                }
            }
        }

        @Test func `the version is the library's`() async throws {
            try await withStage { stage in
                let result = try await stage.run("--version")
                #expect(result.status == 0 && result.stdout == LibraryAPI.version + "\n")
            }
        }

        /// What the command writes of arguments that are no valid use of it, or of a request for help, and its exit code. Nothing is run.
        private func refusal(_ arguments: [String]) async throws -> (status: Int32, text: String) {
            do {
                let command = try await Sleeve.parse(arguments)
                Issue.record("\(arguments) is valid: \(command)")
                return (0, "")
            } catch {
                return (Sleeve.exitCode(for: error).rawValue, Sleeve.text(of: error, arguments, width: 80))
            }
        }

        @Test(arguments: wrong) func `wrong usage exits with 64, says why and where the help is`(
            arguments: [String]
        ) async throws {
            let (status, text) = try await refusal(arguments)
            #expect(status == 64 && text.hasPrefix("Error: ") && text.hasSuffix("--help'.\n"), "\(text)")
            #expect((2...3).contains(text.split(separator: "\n").count), "\(text)")
        }

        /// One is known by the parser, one by the command's own check, one by the name.
        @Test(
            arguments: [["prefetch", "--parallel", "x"], ["prefetch", "--report", "-"], ["preftch"]].map {
                (sleeveBinary, $0)
            } + wrongLab.map { (labBinary, $0) })
        func `a process with wrong usage says so on stderr alone, and creates nothing`(
            program: String, arguments: [String]
        ) async throws {
            try await withStage { stage in
                let result = try await Child(program, arguments, environment: stage.environment).exit()
                #expect(result.status == 64 && result.stdout.isEmpty, "\(result)")
                #expect(result.stderr.hasPrefix("Error: ") && result.stderr.contains("--help'"), "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder).isEmpty)
                if program == sleeveBinary { #expect(try await refusal(arguments).text == result.stderr) }
            }
        }

        @Test(arguments: [
            (["preftch"], "Unknown command 'preftch'. Did you mean 'sleeve prefetch'?\n  See 'sleeve --help'."),
            (
                ["album", "lst"],
                "Unknown command 'lst'. Did you mean 'sleeve album list'?\n  See 'sleeve album --help'."
            ),
            (
                ["get", "--oflline", "http://a/1"],
                "Unknown option '--oflline'. Did you mean '--offline'?\n  See 'sleeve get --help'."
            ),
            (
                ["prefetch", "--shrad", "1/2", "a"],
                "Unknown option '--shrad'. Did you mean '--shard'?\n  See 'sleeve prefetch --help'."
            ),
            (
                ["help", "prefecth"],
                "Unknown command 'prefecth'. Did you mean 'sleeve prefetch'?\n  See 'sleeve --help'."
            ),
            (
                ["refresh", "--older-than", "7"],
                """
                The value '7' is invalid for '--older-than <time>': it needs a unit, such as 7s, 7m, 7h or 7d.
                  --older-than <time>  Check covers not checked for this long, fresh or not, e.g. 12h or 7d.
                  See 'sleeve refresh --help'.
                """
            ),
            (
                ["cache", "evict", "--to", "half"],
                """
                The value 'half' is invalid for '--to <size>'
                  --to <size>  The size to shrink the cache to, such as 500M or 2G.
                  See 'sleeve cache evict --help'.
                """
            ),
            (
                ["cache", "evict", "--to"],
                """
                Missing value for '--to <size>'
                  --to <size>  The size to shrink the cache to, such as 500M or 2G.
                  See 'sleeve cache evict --help'.
                """
            ),
            (
                ["prefetch", "--shard", "4"],
                """
                The value '4' is invalid for '--shard'
                  --shard <i/n>  Only the covers of this part of the lists, for a run on several machines: 0/4 to 3/4. A host is in one part.
                  See 'sleeve prefetch --help'.
                """
            ),
            (
                ["cache", "stats", "--log-level", "loud"],
                """
                The value 'loud' is invalid for '--log-level'
                  --log-level <level>  Print messages of this level and above on stderr. (default: notice) (values: trace, debug, info, notice, warning, error)
                  See 'sleeve cache stats --help'.
                """
            ),
            (
                ["refresh", "--progress-interval", "1"],
                """
                The value '1' is invalid for '--progress-interval': it needs a unit, such as 1s, 1m, 1h or 1d.
                  --progress-interval <time>  Without a terminal, print the progress this often; 0 is never. (default: 60s)
                  See 'sleeve refresh --help'.
                """
            ),
            (
                ["cache", "stats", "--jsn"],
                "Unknown option '--jsn'. Did you mean '--json'?\n  See 'sleeve cache stats --help'."
            ),
        ])
        func `wrong usage brings the command or option that was meant, or what the option is for`(
            arguments: [String], message: String
        ) async throws {
            #expect(try await refusal(arguments) == (64, "Error: \(message)\n"))
        }

        @Test func `an unknown fault is reported with the known ones`() async throws {
            try await withStage { stage in
                let result = try await stage.run("origin", "--port", "0", "--fault", "burn")
                #expect(result.status == 1 && result.stdout.isEmpty, "\(result)")
                #expect(result.stderr.hasPrefix("sleeve: fault=burn: expected "), "\(result)")
                #expect(result.stderr.contains("truncate"), "\(result)")
            }
        }

        @Test func `unreadable certificate authorities are reported`() async throws {
            try await withStage { stage in
                let missing = stage.folder + "/ca.pem"
                let result = try await stage.run("get", "https://127.0.0.1:1/x.jpg", "--cacert", missing)
                #expect(result.status == 1 && result.stderr.contains(missing), "\(result)")
            }
        }

        @Test(.enabled(if: Nginx.isInstalled))
        func `the variables that name authorities for curl name them for sleeve`()
            async throws
        {
            try await withStage { stage in
                try await Nginx.with(.https, server: "location / { return 404; }") { server in
                    let hash = try await stage.shell(
                        "mkdir \"$HOME/ca\" && cp \"$1\" \"$HOME/ca/$(openssl x509 -hash -noout -in \"$1\").0\"",
                        server.certificate)
                    try #require(hash.status == 0, "\(hash)")
                    func get(_ variables: [String: String], _ path: String = "/x.jpg") async throws -> String {
                        let environment = stage.environment.merging(variables) { $1 }
                        return try await run(["get", server.url + path], environment: environment).stderr
                    }
                    let none = try await get([:])
                    #expect(none.contains("is not trusted (--cacert FILE trusts other authorities)"), "\(none)")
                    for trusted in [
                        ["SSL_CERT_FILE": server.certificate], ["SSL_CERT_DIR": "/no/such:\(stage.folder)/ca"],
                        ["CURL_CA_BUNDLE": server.certificate, "SSL_CERT_FILE": "/no/such/file"],
                    ] {
                        let text = try await get(trusted)
                        #expect(text.contains("404"), "\(trusted): \(text)")
                    }
                    let missing = try await get(["SSL_CERT_FILE": "/no/such/file"], "/y.jpg")
                    #expect(missing.contains("/no/such/file"), "\(missing)")
                    // No other request needs it.
                    let url = stage.urls(1..<2)[0]
                    let plain = try await run(
                        ["get", url, "-o", stage.folder + "/1.jpg"],
                        environment: stage.environment.merging(["SSL_CERT_FILE": "/no/such/file"]) { $1 })
                    #expect(plain.status == 0, "\(plain)")
                }
            }
        }
    }

    @Suite struct ReadmeTests {
        private static let readme = repository.appending(path: "README.md")

        @Test(.enabled(if: FileManager.default.fileExists(atPath: readme.path()), "there is no README.md"))
        func `the README's example equals the compiled one`() throws {
            let text = String(decoding: try Data(contentsOf: Self.readme), as: UTF8.self)
            let block = try #require(
                text.split(separator: "```swift\n", maxSplits: 1).dropFirst().first?.split(separator: "```").first,
                "README.md has no ```swift block")
            let example = repository.appending(path: "Tests/Programs/PrefetchExample/main.swift")
            #expect(
                String(block) == String(decoding: try Data(contentsOf: example), as: UTF8.self),
                "the first ```swift block of README.md and Tests/Programs/PrefetchExample/main.swift differ; copy the file into the README"
            )
        }
    }
}
