import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

@Suite(.timeLimit(.minutes(5))) struct CachingTests {
    @Test func `a miss is fetched and stored; later requests are hits with an Age (RFC 9111 §4, RFC 9211 §2)`()
        async throws
    {
        try await withMirror { stage in
            let miss = try await stage.get("/covers/1.jpg")
            #expect(miss.status == 200 && miss.body == CoverImage.jpeg(number: 1))
            #expect(miss.cacheStatus == "sleeve; fwd=uri-miss; stored" && miss.fields["age"] == nil)
            let hit = try await stage.get("/covers/1.jpg")
            #expect(hit.status == 200 && hit.body == miss.body)
            #expect(hit.outcome == "sleeve; hit" && hit.cacheStatus.contains("; ttl=86"))
            #expect(hit.fields["age"].flatMap { Int($0) } != nil)
            for name in ["content-type", "etag", "last-modified", "cache-control", "date", "content-length"] {
                #expect(hit.fields[name] == miss.fields[name] && hit.fields[name] != nil, "\(name)")
            }
            #expect(stage.requestCount(1) == 1)
        }
    }

    @Test func `a stale response is validated, and a 304 confirms it (RFC 9111 §4.3)`() async throws {
        try await withMirror { stage in
            let path = "/covers/2.jpg?cache-control=max-age=0"
            _ = try await stage.get(path)
            let again = try await stage.get(path)
            #expect(again.status == 200 && again.body == CoverImage.jpeg(number: 2))
            #expect(again.cacheStatus == "sleeve; fwd=stale; fwd-status=304; stored")
            #expect(again.fields["age"] == nil, "an Age would deny the validation")
            #expect(stage.requestCount(2) == 2)
        }
    }

    @Test func `the request's directives are obeyed (RFC 9111 §5.2.1, §5.4)`() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/3.jpg")
            for fields in [["Cache-Control": "no-cache"], ["Pragma": "no-cache"], ["Cache-Control": "min-fresh=99999"]]
            {
                let reply = try await stage.get("/covers/3.jpg", fields)
                #expect(
                    reply.status == 200 && reply.outcome == "sleeve; fwd=request; fwd-status=304; stored", "\(fields)")
            }
            let kept = try await stage.get("/covers/3.jpg", ["Cache-Control": "only-if-cached"])
            #expect(kept.status == 200 && kept.outcome == "sleeve; hit")
            let unknown = try await stage.get("/covers/4.jpg", ["Cache-Control": "only-if-cached"])
            #expect(unknown.status == 504 && unknown.cacheStatus == "sleeve; detail=only-if-cached")
            #expect(unknown.text.hasSuffix("\n") && !unknown.text.dropLast().contains("\n"), "one line")
            let stale = "/covers/3.jpg?cache-control=max-age=0"
            _ = try await stage.get(stale)
            let allowed = try await stage.get(stale, ["Cache-Control": "max-stale=60"])
            #expect(allowed.outcome == "sleeve; hit")
            #expect(stage.requestCount(4) == 0)
        }
    }

    @Test(arguments: [("?cache-control=no-store", [:]), ("", ["Cache-Control": "no-store"])])
    func `no-store of the response or the request is obeyed (RFC 9111 §5.2.1.5, §5.2.2.5)`(
        query: String, fields: [String: String]
    ) async throws {
        try await withMirror { stage in
            for count in 1...2 {
                let reply = try await stage.get("/covers/5.jpg\(query)", fields)
                #expect(reply.status == 200 && reply.cacheStatus == "sleeve; fwd=uri-miss")
                #expect(stage.requestCount(5) == count)
            }
            #expect(try stage.entry("/covers/5.jpg" + query) == nil)
        }
    }

    @Test
    func
        `within stale-while-revalidate a stale response is served at once and validated in the background (RFC 5861 §3)`()
        async throws
    {
        try await withMirror { stage in
            let path = "/covers/6.jpg?cache-control=max-age=0,stale-while-revalidate=60"
            _ = try await stage.get(path)
            let reply = try await stage.get(path)
            #expect(reply.status == 200 && reply.outcome == "sleeve; hit")
            try await eventually { stage.requestCount(6) == 2 }
        }
    }

    @Test func `concurrent requests for one URL share one request to the origin (RFC 9111 §4, RFC 9211 §2.6)`()
        async throws
    {
        try await withMirror { stage in
            let path = "/covers/7.jpg?hold=1"
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<8 { group.addTask { try await stage.get(path) } }
                try await eventually { await stage.mirror.origin.collapsedCount == 7 }
                stage.origin.release()
                var outcomes: [String: Int] = [:]
                for try await reply in group {
                    #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: 7))
                    outcomes[reply.outcome, default: 0] += 1
                }
                #expect(
                    outcomes == ["sleeve; fwd=uri-miss; stored": 1, "sleeve; fwd=uri-miss; stored; collapsed": 7])
            }
            #expect(stage.requestCount(7) == 1)
        }
    }

    @Test func `a no-store response answers none of the requests that waited for it (RFC 9111 §5.2.2.5)`() async throws
    {
        try await withMirror { stage in
            let path = "/covers/8.jpg?hold=1&cache-control=no-store"
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<3 { group.addTask { try await stage.get(path) } }
                try await eventually { await stage.mirror.origin.collapsedCount == 2 }
                stage.origin.release()
                for try await reply in group { #expect(reply.status == 200 && reply.outcome == "sleeve; fwd=uri-miss") }
            }
            #expect(stage.requestCount(8) == 3)
        }
    }

    @Test func `HEAD is answered from a stored GET, else forwarded (RFC 9110 §9.3.2)`() async throws {
        try await withMirror { stage in
            let forwarded = try await stage.send("HEAD", "/covers/9.jpg")
            #expect(
                forwarded.status == 200 && forwarded.cacheStatus == "sleeve; fwd=uri-miss" && stage.requestCount(9) == 1
            )
            let whole = try await stage.get("/covers/9.jpg")
            #expect(whole.outcome == "sleeve; fwd=uri-miss; stored")
            let head = try await stage.send("HEAD", "/covers/9.jpg")
            #expect(head.status == 200 && head.outcome == "sleeve; hit" && stage.requestCount(9) == 2)
            #expect(
                head.fields["content-length"] == String(whole.body.count)
                    && forwarded.fields["etag"] == head.fields["etag"]
            )
        }
    }

    @Test func `the response to a HEAD updates the stored one (RFC 9111 §4.3.5)`() async throws {
        try await withMirror { stage in
            let path = "/covers/10.jpg?cache-control=max-age=0"
            _ = try await stage.get(path)
            let before = try #require(try stage.entry(path))
            let reply = try await stage.send("HEAD", path)
            #expect(reply.outcome == "sleeve; fwd=stale")
            let after = try #require(try stage.entry(path))
            #expect(after.validatedAt > before.validatedAt && after.digest == before.digest)
        }
    }

    @Test func `variants of a URL are stored together, and each answers its own requests (RFC 9111 §4.1)`() async throws
    {
        let answer = """
            HTTP/1.1 200 OK\r\nVary: Accept-Language\r\nCache-Control: max-age=60\r\nContent-Length: 2\r
            Connection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                let (german, french) = (["Accept-Language": "de"], ["Accept-Language": "fr"])
                var outcomes: [String] = []
                for fields in [german, french, german, french, [:]] {
                    outcomes.append(try await stage.get("/a", fields).outcome)
                }
                let (hit, miss) = ("sleeve; hit", "sleeve; fwd=vary-miss; stored")
                #expect(outcomes == ["sleeve; fwd=uri-miss; stored", miss, hit, hit, miss])
                #expect(
                    try stage.library.storedEntries(of: [.cover(url: listener.url + "/a")]).isEmpty,
                    "a variant is no cover")
            }
        }
    }
}
