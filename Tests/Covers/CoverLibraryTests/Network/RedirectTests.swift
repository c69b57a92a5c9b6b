import CoverFetch
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// Redirects to other hosts, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    /// - Parameter body: receives a second origin, and a function that makes URLs that redirect to it.
    private func withOther(
        _ configure: (inout LibraryConfiguration) -> Void = { _ in },
        other serve: (inout OriginOptions) -> Void = { _ in },
        _ body: (Stage, Origin, (_ number: Int, _ query: String) -> String) async throws -> Void
    ) async throws {
        var options = OriginOptions()
        options.countPaths = true
        serve(&options)
        let other = try await Origin.start(options)
        let result: Result<Void, any Error>
        do {
            try await withStage(configure) { stage in
                try await body(stage, other) { number, query in
                    let target = other.coverURL(number) + (query.isEmpty ? "" : "?" + query)
                    return stage.url(number, "to=" + target.replacing("&", with: "%26"))
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await other.stop()
        try result.get()
    }

    @Test func `covers are downloaded through redirects over several hosts, under their own keys`() async throws {
        try await withOther { stage, other, led in
            let back = led(3, "to=" + stage.url(4).replacing("&", with: "%26"))
            let urls = (1...20).map { led($0 + 10, "") } + [back]
            let summary = try await stage.library.prefetch(urls).summary()
            #expect(summary.downloaded == 21, "\(summary)")
            let cover = try stage.library.cached(back)
            #expect(cover?.bytes == CoverImage.jpeg(number: 4))
            #expect(stage.origin.requestCount == 22 && other.requestCount == 21)
        }
    }

    @Test(arguments: [429, 503])
    func `the Retry-After of redirects' targets pauses the targets' host, not the first host`(status: Int) async throws
    {
        try await withOther { stage, other, led in
            let urls = (1...100).map { led($0, "status=\(status)&retry-after=3600") }
            let outcomes = try await stage.library.prefetch(urls).collect().outcomes
            let refused = outcomes.compactMap(\.failure).filter { $0.status == status }
            #expect(!refused.isEmpty && refused.allSatisfy { $0.detail.contains("redirected to") })
            let own = await stage.library.failure(stage.url(200))
            #expect(own == nil)
            let closed = await stage.library.failure(other.coverURL(300))
            #expect(closed?.kind == .notTried && closed?.detail.contains(" asks to wait 3") == true)
        }
    }

    @Test func `a host that redirects to an unreachable one still gets requests for its own covers`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let dead = "http://127.0.0.1:\(try closedPort())"
            let urls = (1...60).map { stage.url($0, "to=\(dead)/\($0).jpg") }
            let gone = try await stage.library.prefetch(urls).summary()
            #expect(gone.failed == 60, "\(gone)")
            let there = try await stage.library.prefetch((100...120).map { stage.url($0) }).summary()
            #expect(there.downloaded == 21, "\(there)")
        }
    }

    @Test func `a document's redirects are followed with their cookies, and no more of them than a cover's`()
        async throws
    {
        try await withScriptedServer { request in
            switch request.target {
            case "/first": httpResponse("302 Found", ["Location: /second", "Set-Cookie: a=1"])
            case "/second": httpResponse("200 OK", [], Array((request.field("Cookie") ?? "").utf8))
            default: httpResponse("302 Found", ["Location: \(request.target)"])
            }
        } _: { server in
            try await withStage { stage in
                let document = try await stage.library.document(at: server.url + "/first", maximumSize: 99)
                #expect(document.status == 200 && document.body == Array("a=1".utf8))
                let loop = await #expect(throws: CoverFailure.self) {
                    try await stage.library.document(at: server.url + "/loop", maximumSize: 99)
                }
                #expect(loop?.kind == .tooManyRedirects && server.requests.count == 13)
            }
        }
    }

    @Test func `a document with a key follows redirects within its origin, and no others`() async throws {
        try await withScriptedServer { _ in
            httpResponse("200 OK")
        } _: { other in
            let target = other.url
            try await withScriptedServer { request in
                switch request.target {
                case "/first": httpResponse("301 Moved Permanently", ["Location: /second"])
                case "/second": httpResponse("302 Found", ["Location: \(target)/third"])
                default: nil
                }
            } _: { server in
                try await withStage { stage in
                    let document = try await stage.library.document(
                        at: server.url + "/first", maximumSize: 99, authorization: "a key")
                    #expect(document.status == 302)
                    #expect(server.requests.map { $0.field("Authorization") } == ["a key", "a key"])
                    #expect(other.requests.isEmpty)
                }
            }
        }
    }

    // MARK: Starting again

    @Test func `a retry starts at the URL again: it may redirect elsewhere by then`() async throws {
        try await withOther { stage, other, led in
            let failure = await stage.library.failure(led(1, "status=503&times=1"))
            #expect(failure == nil)
            #expect(stage.origin.requestCount == 2 && other.requestCount == 2)
        }
    }

    @Test func `an address that is refused after it had to wait is asked for anew, once`() async throws {
        let addresses = Mutex([String]())
        let body = "GIF89a\u{1}\0\u{1}\0\0\0\0,\0\0\0\0\u{1}\0\u{1}\0\0\u{2}\u{2}D\u{1}\0;"
        let server = try Listener { head in
            let path = String(head.split(separator: " ")[1])
            let end = "Connection: close\r\nContent-Length:"
            addresses.withLock { $0.append(path) }
            if path == "/signed/4" { return "HTTP/1.1 200 OK\r\n\(end) \(body.utf8.count)\r\n\r\n\(body)" }
            if path.hasPrefix("/signed") { return "HTTP/1.1 403 Expired\r\n\(end) 0\r\n\r\n" }
            return "HTTP/1.1 302 Found\r\nLocation: /signed/\(addresses.withLock { $0.count + 1 })\r\n\(end) 0\r\n\r\n"
        }
        defer { server.stop() }
        try await withStage {
            // A second request to the host waits for 4 seconds.
            $0.rate = 0.25
        } _: { stage in
            let summary = try await stage.library.prefetch([server.url + "/1.gif"]).summary()
            #expect(summary.downloaded == 1, "\(summary)")
            #expect(addresses.withLock { $0 } == ["/1.gif", "/signed/2", "/1.gif", "/signed/4"])
        }
    }
}
