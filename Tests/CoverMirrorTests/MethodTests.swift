import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

@Suite(.timeLimit(.minutes(5))) struct MethodTests {
    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])
    func `an unsafe request is forwarded, and the stored response is validated before it is used again (RFC 9111 §4.4)`(
        method: String
    ) async throws {
        let answer = """
            HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: "a"\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                var sent = listener.requests.makeAsyncIterator()
                _ = try await stage.get("/a")
                _ = await sent.next()
                let hit = try await stage.get("/a")
                #expect(hit.outcome == "sleeve; hit")
                let forwarded = try await stage.send(method, "/a", ["Content-Type": "text/plain"], body: "new")
                #expect(forwarded.status == 200 && forwarded.cacheStatus == "sleeve; fwd=method")
                let head = await sent.next() ?? ""
                #expect(
                    head.hasPrefix("\(method) /a HTTP/1.1\r\n") && head.contains("Content-Length: 3\r\n"), "\(head)")
                #expect(head.contains("Content-Type: text/plain\r\n"))
                let validated = try await stage.get("/a")
                #expect(validated.outcome == "sleeve; fwd=stale; stored")
                #expect(await sent.next()?.contains("If-None-Match: \"a\"\r\n") == true)
                let hitAgain = try await stage.get("/a")
                #expect(hitAgain.outcome == "sleeve; hit")
            }
        }
    }

    @Test func `an unsafe request that fails invalidates nothing (RFC 9111 §4.4)`() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/1.jpg")
            let refused = try await stage.send("DELETE", "/covers/1.jpg")
            #expect(
                refused.status == 405 && refused.text == "only GET and HEAD are allowed\n"
                    && refused.fields["allow"] == "GET, HEAD"
            )
            let hit = try await stage.get("/covers/1.jpg")
            #expect(hit.outcome == "sleeve; hit")
        }
    }

    @Test
    func
        `an invalidated cover stays in the library's cache, stale; the mirror serves it only after a 304 (RFC 9111 §4.4)`()
        async throws
    {
        try await withMirror { stage in
            let stored = try await stage.get("/covers/2.jpg")
            let url = stage.origin.coverURL(2)
            #expect(try stage.library.cachedCover(for: URL(string: url)!)?.isStale == false)
            await stage.mirror.invalidate([url])
            let invalid = try #require(try stage.library.cachedCover(for: URL(string: url)!))
            #expect(invalid.isStale && Array(invalid.data) == stored.body)
            let validated = try await stage.get("/covers/2.jpg")
            #expect(validated.outcome == "sleeve; fwd=stale; fwd-status=304; stored" && validated.body == stored.body)
            #expect(try stage.library.cachedCover(for: URL(string: url)!)?.isStale == false)
            let hit = try await stage.get("/covers/2.jpg")
            #expect(hit.outcome == "sleeve; hit" && stage.requestCount(2) == 2)
            await stage.mirror.invalidate([url])
            await stage.origin.stop()
            let refused = try await stage.get("/covers/2.jpg")
            #expect(refused.status == 504)
            #expect(try stage.library.cachedCover(for: URL(string: url)!)?.data == invalid.data)
        }
    }

    @Test(
        arguments: [
            ("GET", "http://example.org/", "example.org", 421), ("GET", "/../../etc", nil, 404),
            ("CONNECT", "example.org:443", nil, 501),
            ("GET", "//example.org/x.jpg", nil, 404), ("GET", "*", nil, 421),
            ("GET", "/covers/1.jpg", "evil.example", 421),
            ("TRACE", "/covers/1.jpg", nil, 501),
        ] as [(String, String, String?, Int)])
    func `the mirror is no open proxy: URLs of other servers, tunnels and unknown names are refused`(
        method: String, target: String, host: String?, status: Int
    ) async throws {
        try await withMirror { stage in
            let reply = try await stage.send(method, target, host.map { ["Host": $0] } ?? [:])
            #expect(reply.status == status, "\(reply.head)")
            // The origin itself refuses paths that it does not have.
            if status != 404 { #expect(stage.origin.requestCount == 0) }
        }
    }

    @Test func `a mirror of a folder serves no URL outside it`() async throws {
        try await withMirror { stage in
            let mirror = try Mirror(of: stage.origin.url + "/covers/", in: stage.library)
            #expect(await mirror.response(to: MirrorRequest(method: .get, target: "/3.jpg")).head.status == .ok)
            for target in ["/../starter/low-tide.jpg", "/%2e%2e/starter/low-tide.jpg", "/.."] {
                let response = await mirror.response(to: MirrorRequest(method: .get, target: target))
                #expect(response.head.status == .misdirectedRequest, "\(target)")
            }
            mirror.close()
        }
    }

    @Test func `a request that has passed the mirror already is refused (RFC 9110 §7.6.3)`() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/1.jpg")
            let via = try #require(first.fields["via"])
            let looped = try await stage.get("/covers/1.jpg", ["Via": via])
            #expect(looped.status == 508)
        }
    }
}
