import Foundation
import SleeveStage
import Synchronization
import Testing
import Wire

extension CommandTests {
    /// `--header`.
    @Suite struct HeaderTests {
        private static func picture(_ side: Int, _ fields: String = "") -> String {
            let image = "<svg xmlns='http://www.w3.org/2000/svg' width='\(side)' height='\(side)'/>"
            return "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=0\r\n\(fields)"
                + "Content-Length: \(image.utf8.count)\r\n\r\n\(image)"
        }

        /// A picture for those who send the token, and another for strangers.
        private static func server() throws -> Listener {
            try Listener { $0.contains("Bearer hush") ? picture(300) : picture(16) }
        }

        private func heads(of listener: Listener) async -> [String] {
            listener.stop()
            return await listener.requests.reduce(into: []) { $0.append($1) }
        }

        @Test func `fields go to the server of each URL, and to no other that it redirects to`() async throws {
            try await withStage { stage in
                let other = try Self.server()
                let first = try Listener { _ in
                    "HTTP/1.1 302 Found\r\nLocation: \(other.url)/2.svg\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                }
                let file = stage.folder + "/fields"
                try Data("Authorization: Bearer hush\r\n\nReferer: https://a.example/\n".utf8).write(
                    to: URL(filePath: file))
                let list = try stage.list([first.url + "/1.svg"])
                for arguments in [
                    ["prefetch", list, "--header", "@" + file],
                    [
                        "get", first.url + "/3.svg", "-o", stage.folder + "/c", "--header",
                        "Authorization: Bearer hush",
                        "--header", "Referer: https://a.example/",
                    ],
                ] {
                    let result = try await SleeveStage.run(
                        arguments + ["--log-level", "trace"], environment: stage.environment)
                    #expect(result.status == 0 && !"\(result.stderr)\(result.stdout)".contains("hush"), "\(result)")
                }
                let (sent, led) = (await heads(of: first), await heads(of: other))
                #expect(sent.count == 2 && led.count == 2)
                #expect(
                    sent.allSatisfy {
                        $0.contains("Authorization: Bearer hush\r\n") && $0.contains("Referer: https://a.example/\r\n")
                    }, "\(sent)")
                #expect(!led.contains { $0.contains("hush") || $0.contains("Referer") }, "\(led)")
                for name in try FileManager.default.subpathsOfDirectory(atPath: stage.cache) {
                    guard let data = FileManager.default.contents(atPath: "\(stage.cache)/\(name)") else { continue }
                    #expect(data.range(of: Data("hush".utf8)) == nil, "\(name)")
                }
            }
        }

        @Test func `a refresh leaves out what was got with --header, says so and succeeds; with it, it checks that`()
            async throws
        {
            try await withStage { stage in
                let listener = try Self.server()
                let list = try stage.list([listener.url + "/1.svg"])
                let field = ["--header", "Authorization: Bearer hush"]
                #expect(
                    try await SleeveStage.run(["prefetch", list] + field, environment: stage.environment).status == 0)
                #expect(try await stage.run("get", listener.url + "/2.svg", "-o", stage.folder + "/c").status == 0)
                let result = try await stage.run("refresh", "--all")
                #expect(result.status == 0 && result.stdout.contains("1 cover: 1 downloaded"), "\(result)")
                #expect(result.stdout.contains(" · 1 left out, got with parameters or header fields"), "\(result)")
                let with = try await SleeveStage.run(
                    ["refresh", "--all", "--json"] + field, environment: stage.environment)
                #expect(with.stdout.contains("\"leftOut\":0") && with.stdout.contains("\"requested\":2"), "\(with)")
                let heads = await heads(of: listener)
                #expect(heads.filter { $0.contains("/1.svg") }.allSatisfy { $0.contains("hush") }, "\(heads)")
                #expect(!heads.contains { $0.contains("/2.svg") && $0.contains("hush") }, "\(heads)")
                let got = try await stage.run("get", "--offline", listener.url + "/1.svg", "-o", stage.folder + "/c")
                #expect(got.status == 0, "\(got)")
                #expect(try stage.text(of: stage.folder + "/c").contains("width='300'"))
            }
        }

        @Test(arguments: [
            ("Bearer hush", "it is not a name, a colon and a value"), ("X y: hush", "it is not a name"),
            (": hush", "it is not a name"), ("Authorization: ", "Authorization has no value"),
            ("Authorization: hush\r\nX: y", "the value of Authorization has a control character"),
            ("host: hush", "host is set by Sleeve alone"), ("If-None-Match: hush", "is set by Sleeve alone"),
        ])
        func `what is no field is refused, and not shown`(field: String, problem: String) async throws {
            try await withStage { stage in
                let file = stage.folder + "/fields"
                try Data("A: b\n\(field.replacing("\r\n", with: "\u{1}"))\n".utf8).write(to: URL(filePath: file))
                for word in [field, "@" + file] {
                    let result = try await stage.run("refresh", "--header", word)
                    #expect(result.status == 64 && result.stderr.contains(problem), "\(result)")
                    #expect(!result.stderr.contains("hush"), "\(result)")
                }
                let result = try await stage.run("refresh", "--header", "@/nowhere/fields")
                #expect(result.status == 1 && result.stderr.contains("/nowhere/fields: "), "\(result)")
            }
        }
    }
}
