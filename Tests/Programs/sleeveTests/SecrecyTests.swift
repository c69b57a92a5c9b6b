import Foundation
import OriginServer
import SleeveStage
import Synchronization
import Testing
import Wire

extension CommandTests {
    /// Credentials in logs, reports and metrics.
    @Suite struct SecrecyTests {
        @Test func `a token in a URL appears in no message at any level, and not in the report and the metrics`()
            async throws
        {
            try await withStage { stage in
                let urls =
                    stage.urls(0..<2, "access_token=hush") + stage.urls(2..<3, "status=404&sig=hush")
                    + stage.urls(3..<4, "status=503&times=1&retry-after=0&api_key=hush")
                    + ["ftp://a/b.jpg?token=hush", "https://user:hush@a.example/1.jpg"]
                let (report, metrics) = (stage.folder + "/report", stage.folder + "/metrics")
                let result = try await stage.run(
                    "prefetch", try stage.list(urls), "--log-level", "trace", "--report", report, "--metrics-file",
                    metrics, "--json")
                #expect(result.status == 3)
                #expect(result.stderr.contains("[hidden]"))
                for text in [result.stderr, result.stdout, try stage.text(of: report), try stage.text(of: metrics)] {
                    #expect(!text.contains("hush"))
                }
                let lines: [ReportLine] = try jsonLines(try stage.text(of: report))
                #expect(lines.contains { $0.url.hasSuffix("/covers/0.jpg?access_token=[hidden]") })
                // The server gets the token, and `get` prints it.
                #expect(try await stage.run("get", "--offline", urls[0], "-o", stage.folder + "/c").status == 0)
            }
        }

        @Test func `the credentials of a Subsonic client are sent, and are nowhere on the disk`() async throws {
            try await withStage { stage in
                let image = "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"
                let heads = Mutex<[String]>([])
                let listener = try Listener { head in
                    heads.withLock { $0.append(head) }
                    return
                        "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"1\"\r\nContent-Length: \(image.utf8.count)\r\n\r\n\(image)"
                }
                defer { listener.stop() }
                let address = listener.url + "/rest/getCoverArt"
                let list = try stage.list(
                    (1...3).map { "\(address)?u=me&t=hush\($0)&s=salt\($0)&c=app\($0)&v=1.16.1&id=al-7&size=300" })
                let report = stage.folder + "/report"
                let result = try await stage.run(
                    "prefetch", list, "--report", report, "--log-level", "trace", "--json")
                let summary = try result.summary()
                #expect(summary.downloaded == 1 && summary.joined + summary.fresh == 2, "\(result)")
                #expect(heads.withLock { $0.count == 1 && $0[0].contains("t=hush1&s=salt1") })
                #expect(try await stage.entries().map(\.url) == [address + "?id=al-7&size=300"])
                for file in try FileManager.default.subpathsOfDirectory(atPath: stage.cache) {
                    let bytes = FileManager.default.contents(atPath: "\(stage.cache)/\(file)") ?? Data()
                    #expect(
                        bytes.firstRange(of: Data("hush".utf8)) == nil
                            && bytes.firstRange(of: Data("salt1".utf8)) == nil, "\(file)")
                }
                #expect(!(result.stderr + result.stdout).contains("hush"))
                #expect(try !stage.text(of: report).contains("hush"))
                // A server refuses requests without them.
                let refresh = try await stage.run("refresh", "--all", "--json")
                #expect(refresh.status == 0 && heads.withLock { $0.count } == 1, "\(refresh)")
            }
        }

        @Test func `credentials of a redirect's target appear nowhere, and the report's line tells the cover`()
            async throws
        {
            try await withStage { stage in
                let targets = [
                    "/x.jpg?X-Amz-Signature=hush&p=hush", "//me:hush@a.example/",
                    "/x.jpg?u=http%3A%2F%2Fh%2F%3Fpw%3Dhush",
                ]
                var (urls, listeners): ([String], [Listener]) = ([], [])
                for target in targets {
                    let answer =
                        "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                    listeners.append(try Listener(answer: answer))
                    urls.append(listeners[listeners.count - 1].url + "/1.jpg?t=hush")
                }
                defer { for listener in listeners { listener.stop() } }
                let report = stage.folder + "/report"
                let result = try await stage.run(
                    "prefetch", try stage.list(urls), "--log-level", "trace", "--report", report, "--retries", "1",
                    "--json")
                #expect(result.status == 3, "\(result)")
                for text in [result.stderr, result.stdout, try stage.text(of: report)] {
                    #expect(!text.contains("hush"), "\(text)")
                }
                let lines: [ReportLine] = try jsonLines(try stage.text(of: report))
                #expect(Set(lines.map(\.line)) == [1, 2, 3])
                for line in lines {
                    #expect(line.url == urls[(line.line ?? 1) - 1].replacing("hush", with: "[hidden]"))
                }
            }
        }

        @Test func `a usage error repeats an argument without its credentials`() async throws {
            try await withStage { stage in
                for arguments in [["get", "http://a.example/1", "http://a.example/?token=hush"], ["http://a:hush@b/"]] {
                    let result = try await SleeveStage.run(arguments, environment: stage.environment)
                    #expect(result.status == 64 && !result.stderr.contains("hush"), "\(result)")
                    #expect(result.stderr.contains("[hidden]"))
                }
            }
        }

        @Test(arguments: ["127.0.0.1:1", "no.such.host.invalid:8"])
        func `a proxy's password appears in no message`(place: String) async throws {
            try await withStage { stage in
                let result = try await stage.shell(
                    """
                    http_proxy=http://user:hush@$1 $SLEEVE get http://covers.example/1.jpg -o /dev/null \
                        --retries 0 --log-level trace
                    """, place)
                #expect(result.status == 3, "\(result)")
                #expect(!result.stderr.contains("hush") && !result.stdout.contains("hush"))
                #expect(result.stderr.contains("the proxy \(place), which http_proxy names"), "\(result)")
            }
        }

        @Test func `a proxy that rejects the password is reported with its variable`() async throws {
            let answer = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
            try await withStage { stage in
                try await withListener(answer: answer) { listener in
                    let place = listener.url.replacing("http://", with: "")
                    let result = try await stage.shell(
                        "all_proxy=http://user:hush@$1 $SLEEVE get http://covers.example/1.jpg -o /dev/null", place)
                    #expect(result.status == 3 && result.stderr.contains("which all_proxy names"), "\(result)")
                    #expect(!result.stderr.contains("hush"))
                }
            }
        }
    }
}
