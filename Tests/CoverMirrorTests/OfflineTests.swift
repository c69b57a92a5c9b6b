import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct OfflineTests {
    @Test(
        "when the origin is away the stale response is given where that is allowed, else 504 (RFC 9111 §4.2.4, §5.2.2.2)"
    )
    func deadOrigin() async throws {
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
            let reply8 = try await stage.ask("HEAD", stale)
            #expect(reply8.status == 200)
            let reply9 = try await stage.ask("POST", "/covers/1.jpg", body: "x")
            #expect(reply9.status == 504)
        }
    }

    @Test(
        "an origin that has failed three times in a row is not waited for: stale at once where allowed, else 504 and when to try again"
    )
    func givenUp() async throws {
        try await withMirror { stage in
            let stale = "/covers/1.jpg?cache-control=max-age=0"
            let body = try await stage.get(stale).body
            await stage.origin.stop()
            for number in 2...4 {
                let reply = try await stage.get("/covers/\(number).jpg")
                #expect(reply.status == 504 && reply.fields["retry-after"] == nil)
            }
            for method in ["GET", "HEAD", "POST"] {
                let refused = try await stage.ask(method, "/covers/5.jpg")
                #expect(refused.status == 504 && refused.fields["retry-after"] == "1")
                #expect(refused.cacheStatus == "sleeve; detail=given-up")
            }
            let given = try await stage.get(stale)
            #expect(given.status == 200 && given.body == body && given.outcome == "sleeve; hit; detail=stale-if-error")
            // Half open: one is let through, and finds out.
            stage.clock.advance(by: .milliseconds(500))
            let probe = try await stage.get("/covers/6.jpg")
            #expect(probe.cacheStatus == "sleeve; fwd=uri-miss; detail=connect")
            let after = try await stage.get("/covers/6.jpg")
            #expect(after.cacheStatus == "sleeve; detail=given-up")
        }
    }

    @Test("an origin that hangs is asked by one at a time once that is known, and given again as soon as it is back")
    func hung() async throws {
        try await withMirror({ $0.timeout = .seconds(2) }) { stage in
            let stale = "/covers/1.jpg?cache-control=max-age=0"
            _ = try await stage.get(stale)
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for number in 2...4 { group.addTask { try await stage.get("/covers/\(number).jpg?fault=never") } }
                for try await reply in group { #expect(reply.cacheStatus == "sleeve; fwd=uri-miss; detail=timeout") }
            }
            let asked = stage.origin.requestCount
            let given = try await stage.get(stale)
            #expect(given.outcome == "sleeve; hit; detail=stale-if-error" && stage.origin.requestCount == asked)
            stage.clock.advance(by: .milliseconds(500))
            // The stale one is given all the same, and the probe runs beside.
            let again = try await stage.get(stale)
            #expect(again.outcome == "sleeve; hit; detail=stale-if-error")
            await until { await !stage.mirror.upstream.isDoubtful }
            let back = try await stage.get(stale)
            #expect(back.outcome == "sleeve; fwd=stale; fwd-status=304; stored")
        }
    }

    @Test("an origin that asks to be left alone is (RFC 9110 §10.2.3)")
    func retryAfter() async throws {
        try await withMirror { stage in
            let busy = try await stage.get("/covers/1.jpg?status=503&retry-after=7")
            #expect(busy.status == 503 && busy.fields["retry-after"] == "7")
            let refused = try await stage.get("/covers/2.jpg")
            #expect(refused.status == 504 && refused.fields["retry-after"] == "7")
            #expect(refused.cacheStatus == "sleeve; detail=retry-after" && stage.requests(2) == 0)
            stage.clock.advance(by: .seconds(7))
            let reply = try await stage.get("/covers/2.jpg")
            #expect(reply.status == 200)
        }
    }

    @Test("an origin that fails is as one that is away: the stale response is given (RFC 5861 §4)")
    func serverError() async throws {
        try await withMirror { stage in
            let body = try await stage.plant("/covers/4.jpg?cache-control=max-age=0", under: "/covers/4.jpg?status=503")
            let given = try await stage.get("/covers/4.jpg?status=503")
            #expect(given.status == 200 && given.body == body)
            #expect(given.outcome == "sleeve; fwd=stale; fwd-status=503; detail=stale-if-error")
        }
    }

    @Test("a refusal is handed on, and what is stored stays good; that it has gone is believed (RFC 9111 §4.3.3)")
    func refusal() async throws {
        try await withMirror { stage in
            let now = "/covers/9.jpg?cache-control=max-age=0"
            for status in [429, 404] { _ = try await stage.plant(now, under: "/covers/9.jpg?status=\(status)") }
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

    @Test("a server that comes to forbid keeping it is obeyed: it is asked every time (RFC 9111 §5.2.2.5)")
    func noLongerStorable() async throws {
        try await withMirror { stage in
            let path = "/covers/10.jpg?cache-control=no-store,max-age=60"
            let body = try await stage.plant("/covers/10.jpg?cache-control=max-age=0", under: path)
            for _ in 1...2 {
                let reply = try await stage.get(path)
                #expect(
                    reply.status == 200 && reply.body == body && reply.outcome == "sleeve; fwd=stale; fwd-status=304")
            }
        }
    }

    @Test(
        "a broken answer, or none, is told as 502 (RFC 9110 §15.6.3), and half of a body is never stored (RFC 9111 §3.3)"
    )
    func brokenAnswer() async throws {
        try await withMirror { stage in
            let broken = try await stage.get("/covers/5.jpg?fault=truncate")
            #expect(broken.status == 502 && broken.cacheStatus == "sleeve; fwd=uri-miss; detail=truncated")
            #expect(try stage.library.reader.entry(for: stage.origin.url + "/covers/5.jpg?fault=truncate") == nil)
            for fault in ["reset", "close", "reset", "close"] {
                let reply = try await stage.get("/covers/5.jpg?fault=\(fault)")
                #expect(reply.status == 502 && reply.cacheStatus == "sleeve; fwd=uri-miss; detail=broken", "\(fault)")
            }
            let other = try await stage.get("/covers/5.jpg")
            #expect(other.status == 200, "one page that breaks closes the way to no other")
        }
        try await withListener(answer: "SSH-2.0-OpenSSH_9.2\r\n") { listener in
            try await withMirror(of: listener.url) { stage in
                let reply = try await stage.get("/a")
                #expect(reply.status == 502 && reply.cacheStatus == "sleeve; fwd=uri-miss; detail=broken")
            }
        }
    }

    @Test("offline the cache alone answers, and the origin is not asked")
    func offline() async throws {
        try await withMirror { stage in
            let (fresh, stale) = ("/covers/6.jpg", "/covers/7.jpg?cache-control=max-age=0")
            let strict = "/covers/8.jpg?cache-control=max-age=0,must-revalidate"
            for path in [fresh, stale, strict] { _ = try await stage.get(path) }
            let asked = stage.origin.requestCount
            var configuration = stage.library.configuration
            configuration.isOffline = true
            let library = try await LibraryAPI(configuration: configuration)
            let mirror = try library.mirror(of: stage.origin.url)
            #expect(await mirror.answer(MirrorRequest(method: .get, target: fresh)).head.status == .ok)
            #expect(await mirror.answer(MirrorRequest(method: .get, target: stale)).head.status == .ok)
            let missing = await mirror.answer(MirrorRequest(method: .get, target: "/covers/9.jpg"))
            #expect(missing.head.status == .gatewayTimeout)
            #expect(String(decoding: missing.body, as: UTF8.self) == "not in the cache, and offline\n")
            let forbidden = await mirror.answer(MirrorRequest(method: .get, target: strict))
            #expect(forbidden.head.status == .gatewayTimeout)
            #expect(String(decoding: forbidden.body, as: UTF8.self) == "offline, and \(Staleness.reason)\n")
            for answer in [missing, forbidden] {
                #expect(answer.head.headerFields[.cacheStatus] == "sleeve; detail=offline")
            }
            #expect(await mirror.answer(MirrorRequest(method: .post, target: fresh)).head.status == .gatewayTimeout)
            mirror.close()
            await library.close()
            #expect(stage.origin.requestCount == asked)
        }
    }
}
