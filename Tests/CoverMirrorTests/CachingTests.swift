import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct CachingTests {
    @Test("a miss is fetched and stored, and is a hit from then on, with its age (RFC 9111 §4, RFC 9211 §2)")
    func missThenHit() async throws {
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
            #expect(stage.requests(1) == 1)
        }
    }

    @Test("what is stale is validated, and a 304 makes it stand (RFC 9111 §4.3)")
    func revalidated() async throws {
        try await withMirror { stage in
            let path = "/covers/2.jpg?cache-control=max-age=0"
            _ = try await stage.get(path)
            let again = try await stage.get(path)
            #expect(again.status == 200 && again.body == CoverImage.jpeg(number: 2))
            #expect(again.cacheStatus == "sleeve; fwd=stale; fwd-status=304; stored")
            #expect(again.fields["age"] == nil, "an Age would say that nobody was asked")
            #expect(stage.requests(2) == 2)
        }
    }

    @Test("what the client's own directives ask for is done (RFC 9111 §5.2.1, §5.4)")
    func requestDirectives() async throws {
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
            let reply10 = try await stage.get(stale, ["Cache-Control": "max-stale=60"])
            #expect(reply10.outcome == "sleeve; hit")
            #expect(stage.requests(4) == 0)
        }
    }

    @Test(
        "no-store, the server's or the client's, is not stored (RFC 9111 §5.2.1.5, §5.2.2.5)",
        arguments: [("?cache-control=no-store", [:]), ("", ["Cache-Control": "no-store"])])
    func notStored(query: String, fields: [String: String]) async throws {
        try await withMirror { stage in
            for asked in 1...2 {
                let reply = try await stage.get("/covers/5.jpg\(query)", fields)
                #expect(reply.status == 200 && reply.cacheStatus == "sleeve; fwd=uri-miss")
                #expect(stage.requests(5) == asked)
            }
            let cover = try stage.library.cachedCover(for: stage.origin.coverURL(5) + query)
            #expect(cover == nil)
        }
    }

    @Test(
        "a stale response is given at once within stale-while-revalidate, and the origin is asked beside (RFC 5861 §3)")
    func whileRevalidating() async throws {
        try await withMirror { stage in
            let path = "/covers/6.jpg?cache-control=max-age=0,stale-while-revalidate=60"
            _ = try await stage.get(path)
            let reply = try await stage.get(path)
            #expect(reply.status == 200 && reply.outcome == "sleeve; hit" && stage.requests(6) >= 1)
            await until { stage.requests(6) == 2 }
        }
    }

    @Test("while one asks, the others who want the same wait for its answer: one request goes out (RFC 9211 §2.5)")
    func collapsed() async throws {
        try await withMirror { stage in
            let path = "/covers/7.jpg?hold=1"
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<8 { group.addTask { try await stage.get(path) } }
                await until { await stage.mirror.upstream.joined == 7 }
                stage.origin.release()
                var outcomes: [String: Int] = [:]
                for try await reply in group {
                    #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: 7))
                    outcomes[reply.outcome, default: 0] += 1
                }
                #expect(
                    outcomes == ["sleeve; fwd=uri-miss; stored": 1, "sleeve; fwd=uri-miss; stored; collapsed": 7])
            }
            #expect(stage.requests(7) == 1)
        }
    }

    @Test("an answer that must not be shared is given to nobody who waited for it (RFC 9111 §5.2.2.5)")
    func notShared() async throws {
        try await withMirror { stage in
            let path = "/covers/8.jpg?hold=1&cache-control=no-store"
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<3 { group.addTask { try await stage.get(path) } }
                await until { await stage.mirror.upstream.joined == 2 }
                stage.origin.release()
                for try await reply in group { #expect(reply.status == 200 && reply.outcome == "sleeve; fwd=uri-miss") }
            }
            #expect(stage.requests(8) == 3)
        }
    }

    @Test("HEAD is answered from what a GET has stored; else it goes out as it is (RFC 9110 §9.3.2)")
    func head() async throws {
        try await withMirror { stage in
            let asked = try await stage.ask("HEAD", "/covers/9.jpg")
            #expect(asked.status == 200 && asked.cacheStatus == "sleeve; fwd=uri-miss" && stage.requests(9) == 1)
            let whole = try await stage.get("/covers/9.jpg")
            #expect(whole.outcome == "sleeve; fwd=uri-miss; stored")
            let head = try await stage.ask("HEAD", "/covers/9.jpg")
            #expect(head.status == 200 && head.outcome == "sleeve; hit" && stage.requests(9) == 2)
            #expect(
                head.fields["content-length"] == String(whole.body.count) && asked.fields["etag"] == head.fields["etag"]
            )
        }
    }

    @Test("an answer to HEAD renews what is stored (RFC 9111 §4.3.5)")
    func headRenews() async throws {
        try await withMirror { stage in
            let path = "/covers/10.jpg?cache-control=max-age=0"
            _ = try await stage.get(path)
            let before = try #require(try stage.library.reader.entry(for: stage.origin.url + path))
            let reply11 = try await stage.ask("HEAD", path)
            #expect(reply11.outcome == "sleeve; fwd=stale")
            let after = try #require(try stage.library.reader.entry(for: stage.origin.url + path))
            #expect(after.validatedAt > before.validatedAt && after.digest == before.digest)
        }
    }

    @Test("responses that vary are kept side by side, and each answers its own requests (RFC 9111 §4.1)")
    func vary() async throws {
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
                #expect(try stage.library.reader.entry(for: listener.url + "/a") == nil, "it is no cover")
            }
        }
    }
}
