import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct MethodTests {
    @Test(
        "a request that changes something passes through, and what is stored is validated before it is used again (RFC 9111 §4.4)",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])
    func invalidation(method: String) async throws {
        let answer = """
            HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: "a"\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                var sent = listener.requests.makeAsyncIterator()
                _ = try await stage.get("/a")
                _ = await sent.next()
                let reply1 = try await stage.get("/a")
                #expect(reply1.outcome == "sleeve; hit")
                let passed = try await stage.ask(method, "/a", ["Content-Type": "text/plain"], body: "new")
                #expect(passed.status == 200 && passed.cacheStatus == "sleeve; fwd=method")
                let head = await sent.next() ?? ""
                #expect(
                    head.hasPrefix("\(method) /a HTTP/1.1\r\n") && head.contains("Content-Length: 3\r\n"), "\(head)")
                #expect(head.contains("Content-Type: text/plain\r\n"))
                let reply2 = try await stage.get("/a")
                #expect(reply2.outcome == "sleeve; fwd=stale; stored")
                #expect(await sent.next()?.contains("If-None-Match: \"a\"\r\n") == true)
                let reply3 = try await stage.get("/a")
                #expect(reply3.outcome == "sleeve; hit", "and then it stands again")
            }
        }
    }

    @Test("one that was refused has changed nothing (RFC 9111 §4.4)")
    func failedChange() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/1.jpg")
            let refused = try await stage.ask("DELETE", "/covers/1.jpg")
            #expect(
                refused.status == 405 && refused.text == "only GET and HEAD\n" && refused.fields["allow"] == "GET, HEAD"
            )
            let reply4 = try await stage.get("/covers/1.jpg")
            #expect(reply4.outcome == "sleeve; hit")
        }
    }

    @Test("a cover that was invalidated is still there for the library, and pins hold")
    func invalidCoverStays() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/2.jpg")
            let url = stage.origin.coverURL(2)
            await stage.mirror.invalidate([url])
            #expect(try stage.library.cachedCover(for: url) != nil)
            let again = try await stage.get("/covers/2.jpg")
            #expect(
                again.outcome == "sleeve; fwd=stale; fwd-status=304; stored" && again.body == CoverImage.jpeg(number: 2)
            )
            await stage.mirror.invalidate([url])
            await stage.origin.stop()
            let reply5 = try await stage.get("/covers/2.jpg")
            #expect(reply5.status == 504, "what may have changed is not given unasked")
        }
    }

    @Test(
        "it is no open proxy: other servers' URLs, tunnels and names are refused, and nobody is asked",
        arguments: [
            ("GET", "http://example.org/", "example.org", 421), ("GET", "/../../etc", nil, 404),
            ("CONNECT", "example.org:443", nil, 501),
            ("GET", "//example.org/x.jpg", nil, 404), ("GET", "*", nil, 421),
            ("GET", "/covers/1.jpg", "evil.example", 421),
            ("TRACE", "/covers/1.jpg", nil, 501),
        ] as [(String, String, String?, Int)])
    func noOpenProxy(method: String, target: String, host: String?, status: Int) async throws {
        try await withMirror { stage in
            let reply = try await stage.ask(method, target, host.map { ["Host": $0] } ?? [:])
            #expect(reply.status == status, "\(reply.head)")
            // A path that is none of the origin's own is its own to refuse.
            if status != 404 { #expect(stage.origin.requestCount == 0) }
        }
    }

    @Test("of a folder that is mirrored nothing leads out")
    func folder() async throws {
        try await withMirror { stage in
            let mirror = try stage.library.mirror(of: stage.origin.url + "/covers/")
            #expect(await mirror.answer(MirrorRequest(method: .get, target: "/3.jpg")).head.status == .ok)
            for target in ["/../starter/low-tide.jpg", "/%2e%2e/starter/low-tide.jpg", "/.."] {
                let answer = await mirror.answer(MirrorRequest(method: .get, target: target))
                #expect(answer.head.status == .misdirectedRequest, "\(target)")
            }
            mirror.close()
        }
    }

    @Test("a mirror of itself says so instead of asking itself for ever (RFC 9110 §7.6.3)")
    func loop() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/1.jpg")
            let via = try #require(first.fields["via"])
            let reply6 = try await stage.get("/covers/1.jpg", ["Via": via])
            #expect(reply6.status == 508)
        }
    }
}
