import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

@Suite(.timeLimit(.minutes(5))) struct OfflineTests {
    @Test func `if the origin is down, a stale response is served where allowed, else 504 (RFC 9111 §4.2.4, §5.2.2.2)`()
        async throws
    {
        try await withMirror { stage in
            let stale = "/covers/1.jpg?cache-control=max-age=0"
            let strict = "/covers/2.jpg?cache-control=max-age=0,must-revalidate"
            for path in [stale, strict] { _ = try await stage.get(path) }
            await stage.origin.stop()
            let given = try await stage.get(stale)
            #expect(given.status == 200 && given.body == CoverImage.jpeg(number: 1) && given.fields["age"] != nil)
            #expect(given.outcome == "sleeve; fwd=stale; detail=stale-if-error")
            for path in [strict, "/covers/3.jpg"] {
                let refused = try await stage.get(path)
                #expect(refused.status == 504 && refused.cacheStatus.hasSuffix("; detail=connect"))
                #expect(refused.fields["content-type"] == "text/plain; charset=utf-8" && refused.text.hasSuffix("\n"))
            }
            let head = try await stage.send("HEAD", stale)
            #expect(head.status == 200)
            let post = try await stage.send("POST", "/covers/1.jpg", body: "x")
            #expect(post.status == 504)
        }
    }

    @Test
    func
        `after three failures in a row the origin is not asked: a stale response at once where allowed, else 504 with Retry-After`()
        async throws
    {
        try await withMirror { stage in
            let stale = "/covers/1.jpg?cache-control=max-age=0"
            let body = try await stage.get(stale).body
            await stage.origin.stop()
            for number in 2...4 {
                let reply = try await stage.get("/covers/\(number).jpg")
                #expect(reply.status == 504 && reply.fields["retry-after"] == nil, "\(reply)")
            }
            for method in ["GET", "HEAD", "POST"] {
                let refused = try await stage.send(method, "/covers/5.jpg")
                #expect(refused.status == 504 && refused.fields["retry-after"] == "1")
                #expect(refused.cacheStatus == "sleeve; detail=given-up")
            }
            let given = try await stage.get(stale)
            #expect(given.status == 200 && given.body == body && given.outcome == "sleeve; hit; detail=stale-if-error")
            // Half-open: one request tests the origin.
            stage.clock.advance(by: .milliseconds(500))
            let probe = try await stage.get("/covers/6.jpg")
            #expect(probe.cacheStatus == "sleeve; fwd=uri-miss; detail=connect")
            let after = try await stage.get("/covers/6.jpg")
            #expect(after.cacheStatus == "sleeve; detail=given-up")
        }
    }

    @Test func `an origin that hangs is probed by one request at a time, and asked again once it answers`() async throws
    {
        try await withMirror({ $0.timeout = .seconds(2) }) { stage in
            let stale = "/covers/1.jpg?cache-control=max-age=0"
            _ = try await stage.get(stale)
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for number in 2...4 { group.addTask { try await stage.get("/covers/\(number).jpg?fault=never") } }
                for try await reply in group { #expect(reply.cacheStatus == "sleeve; fwd=uri-miss; detail=timeout") }
            }
            let before = stage.origin.requestCount
            let given = try await stage.get(stale)
            #expect(given.outcome == "sleeve; hit; detail=stale-if-error" && stage.origin.requestCount == before)
            stage.clock.advance(by: .milliseconds(500))
            // The stale response is served, and the probe runs in the background.
            let again = try await stage.get(stale)
            #expect(again.outcome == "sleeve; hit; detail=stale-if-error")
            try await eventually { await !stage.mirror.origin.mayBeUnreachable(stage.origin.url + stale) }
            // The probe's own revalidation may still be running; a request that joins it says so.
            let back = try await stage.get(stale)
            #expect(back.outcome.hasPrefix("sleeve; fwd=stale; fwd-status=304; stored"))
        }
    }

    @Test func `Retry-After of one URL is obeyed for that URL, of three in a row for the origin (RFC 9110 §10.2.3)`()
        async throws
    {
        try await withMirror { stage in
            func busy(_ number: Int) -> String { "/covers/\(number).jpg?status=503&retry-after=7" }
            for _ in 1...2 {
                let refused = try await stage.get(busy(1))
                #expect(refused.fields["retry-after"] == "7")
            }
            #expect(stage.requestCount(1) == 1)
            #expect(try await stage.get("/covers/2.jpg").status == 200)
            for number in 3...5 { #expect(try await stage.get(busy(number)).status == 503) }
            let refused = try await stage.get("/covers/6.jpg")
            #expect(refused.status == 504 && refused.fields["retry-after"] == "7")
            #expect(refused.cacheStatus == "sleeve; detail=retry-after" && stage.requestCount(6) == 0)
            stage.clock.advance(by: .seconds(7))
            #expect(try await stage.get("/covers/6.jpg").status == 200)
        }
    }

    @Test func `a stale response replaces a server error (RFC 5861 §4)`() async throws {
        try await withMirror { stage in
            let body = try await stage.store("/covers/4.jpg?cache-control=max-age=0", under: "/covers/4.jpg?status=503")
            let given = try await stage.get("/covers/4.jpg?status=503")
            #expect(given.status == 200 && given.body == body)
            #expect(given.outcome == "sleeve; fwd=stale; fwd-status=503; detail=stale-if-error")
        }
    }

    @Test func `a 429 is forwarded and keeps the stored response; a 404 invalidates it (RFC 9111 §4.3.3)`() async throws
    {
        try await withMirror { stage in
            let now = "/covers/9.jpg?cache-control=max-age=0"
            for status in [429, 404] { _ = try await stage.store(now, under: "/covers/9.jpg?status=\(status)") }
            for status in [429, 404] {
                let reply = try await stage.get("/covers/9.jpg?status=\(status)")
                #expect(reply.status == status && reply.outcome == "sleeve; fwd=stale")
            }
            await stage.origin.stop()
            let (busy, gone) = (
                try await stage.get("/covers/9.jpg?status=429"), try await stage.get("/covers/9.jpg?status=404")
            )
            #expect(busy.status == 200 && gone.status == 504)
        }
    }

    @Test func `a 304 with no-store is obeyed: every later request is validated (RFC 9111 §5.2.2.5)`() async throws {
        try await withMirror { stage in
            let path = "/covers/10.jpg?cache-control=no-store,max-age=60"
            let body = try await stage.store("/covers/10.jpg?cache-control=max-age=0", under: path)
            for _ in 1...2 {
                let reply = try await stage.get(path)
                #expect(
                    reply.status == 200 && reply.body == body && reply.outcome == "sleeve; fwd=stale; fwd-status=304")
            }
        }
    }

    @Test
    func
        `a broken response is reported as 502 (RFC 9110 §15.6.3), and an incomplete body is never stored (RFC 9111 §3.3)`()
        async throws
    {
        try await withMirror { stage in
            let broken = try await stage.get("/covers/5.jpg?fault=truncate")
            #expect(broken.status == 502 && broken.cacheStatus == "sleeve; fwd=uri-miss; detail=truncated")
            #expect(try stage.entry("/covers/5.jpg?fault=truncate") == nil)
            for fault in ["reset", "close", "reset", "close"] {
                let reply = try await stage.get("/covers/5.jpg?fault=\(fault)")
                #expect(reply.status == 502 && reply.cacheStatus == "sleeve; fwd=uri-miss; detail=broken", "\(fault)")
            }
            let other = try await stage.get("/covers/5.jpg")
            #expect(other.status == 200, "a URL that breaks does not block the others")
        }
        try await withListener(answer: "SSH-2.0-OpenSSH_9.2\r\n") { listener in
            try await withMirror(of: listener.url) { stage in
                let reply = try await stage.get("/a")
                #expect(reply.status == 502 && reply.cacheStatus == "sleeve; fwd=uri-miss; detail=broken")
            }
        }
    }

    @Test func `offline, only the cache answers`() async throws {
        try await withMirror { stage in
            let (fresh, stale) = ("/covers/6.jpg", "/covers/7.jpg?cache-control=max-age=0")
            let strict = "/covers/8.jpg?cache-control=max-age=0,must-revalidate"
            for path in [fresh, stale, strict] { _ = try await stage.get(path) }
            let before = stage.origin.requestCount
            var configuration = stage.library.configuration
            configuration.isOffline = true
            let library = try await LibraryAPI(configuration: configuration)
            let mirror = try Mirror(of: stage.origin.url, in: library)
            #expect(await mirror.response(to: MirrorRequest(method: .get, target: fresh)).head.status == .ok)
            #expect(await mirror.response(to: MirrorRequest(method: .get, target: stale)).head.status == .ok)
            let missing = await mirror.response(to: MirrorRequest(method: .get, target: "/covers/9.jpg"))
            #expect(missing.head.status == .gatewayTimeout)
            #expect(String(decoding: missing.body, as: UTF8.self) == "not in the cache, and offline\n")
            let forbidden = await mirror.response(to: MirrorRequest(method: .get, target: strict))
            #expect(forbidden.head.status == .gatewayTimeout)
            #expect(String(decoding: forbidden.body, as: UTF8.self) == "offline, and \(Staleness.reason)\n")
            for response in [missing, forbidden] {
                #expect(response.head.headerFields[.cacheStatus] == "sleeve; detail=offline")
            }
            #expect(
                await mirror.response(to: MirrorRequest(method: .post, target: fresh)).head.status == .gatewayTimeout)
            mirror.close()
            await library.close()
            #expect(stage.origin.requestCount == before)
        }
    }
}
