import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// A mirror and the library's other commands share one cache.
@Suite(.timeLimit(.minutes(5))) struct SharedCacheTests {
    @Test func `a cover that the mirror has fetched is cached for the library, and the reverse`() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/1.jpg")
            let cover = try #require(try stage.library.cachedCover(for: URL(string: stage.origin.coverURL(1))!))
            #expect(
                Array(cover.data) == CoverImage.jpeg(number: 1) && cover.mediaType == "image/jpeg" && cover.width != nil
            )

            let url = try #require(URL(string: stage.origin.coverURL(2)))
            _ = try await stage.library.cover(for: url)
            let hit = try await stage.get("/covers/2.jpg")
            #expect(hit.outcome == "sleeve; hit" && hit.body == CoverImage.jpeg(number: 2))
            #expect(hit.fields["content-type"] == "image/jpeg" && hit.fields["etag"] != nil)
            #expect(stage.requestCount(1) == 1 && stage.requestCount(2) == 1)
        }
    }

    @Test func `a response that is no cover is stored for the mirror only: neither listed, refreshed nor returned`()
        async throws
    {
        let answer = """
            HTTP/1.1 404 Not Found\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                let miss = try await stage.get("/a.jpg")
                #expect(miss.outcome == "sleeve; fwd=uri-miss; stored")
                let again = try await stage.get("/a.jpg")
                #expect(again.status == 404 && again.text == "none" && again.outcome == "sleeve; hit")
                var listed = 0
                try stage.library.listCovers { _ in listed += 1 }
                #expect(listed == 0)
                let cover = try stage.library.cachedCover(for: URL(string: listener.url + "/a.jpg")!)
                #expect(cover == nil)
                let refreshed = try await stage.library.refresh().summary()
                #expect(refreshed.requested == 0)
            }
        }
    }

    @Test func `eight variants of a URL are stored, and the oldest is replaced`() async throws {
        let answer = """
            HTTP/1.1 200 OK\r\nVary: Accept-Language\r\nCache-Control: max-age=60\r\nContent-Length: 2\r
            Connection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                for number in 1...9 { _ = try await stage.get("/a", ["Accept-Language": "x-\(number)"]) }
                for number in 2...9 {
                    let reply = try await stage.get("/a", ["Accept-Language": "x-\(number)"])
                    #expect(reply.outcome == "sleeve; hit", "\(number)")
                }
                let first = try await stage.get("/a", ["Accept-Language": "x-1"])
                #expect(first.outcome == "sleeve; fwd=vary-miss; stored")
                let statistics = try await stage.library.statistics()
                #expect(statistics.entries == 8 && statistics.blobs == 1, "equal bytes are stored once")
            }
        }
    }

    @Test func `a damaged body is never served: it is fetched again`() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/3.jpg")
            let path = try #require(try stage.library.coverFile(for: stage.origin.coverURL(3)))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.seek(toOffset: 100)
            try file.write(contentsOf: [first.body[100] ^ 1])
            try file.close()
            let again = try await stage.get("/covers/3.jpg")
            #expect(again.body == first.body && again.outcome == "sleeve; fwd=uri-miss; stored")
            #expect(stage.requestCount(3) == 2)
        }
    }

    @Test func `a mirror keeps the cache within its capacity`() async throws {
        try await withMirror({ $0.capacity = 1 << 20 }) { stage in
            for number in 1...60 {
                let reply = try await stage.get("/covers/\(number).jpg?size=40000")
                #expect(reply.status == 200 && reply.outcome == "sleeve; fwd=uri-miss; stored")
            }
            let statistics = try await stage.library.statistics()
            #expect(statistics.chargedBytes <= 1 << 20 && statistics.entries > 10)
        }
    }

    @Test
    func `redirects, bodies of errors and end-to-end fields are forwarded unchanged; fields of the connection are not`()
        async throws
    {
        let answer = """
            HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nX-Colour: blue\r\nX-Colour: green\r\nX-Hop: 1\r
            Keep-Alive: timeout=5\r\nConnection: close, X-Hop\r\nContent-Length: 5\r\n\r\nmoved
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                let fields = ["X-Mine": "1", "Connection": "X-Private", "X-Private": "2", "TE": "trailers"]
                let reply = try await stage.get("/b", fields)
                #expect(reply.status == 302 && reply.text == "moved" && reply.fields["location"] == "/elsewhere")
                #expect(reply.head.contains("X-Colour: blue\r\n") && reply.head.contains("X-Colour: green\r\n"))
                #expect(reply.fields["x-hop"] == nil && reply.fields["keep-alive"] == nil)
                #expect(reply.fields["via"]?.hasPrefix("1.1 sleeve-") == true)
                let sent = await listener.requests.first { _ in true } ?? ""
                #expect(sent.contains("X-Mine: 1\r\n") && sent.contains("Via: 1.1 sleeve-"))
                for name in ["X-Private", "TE", "Accept", "User-Agent", "Connection"] {
                    #expect(!sent.contains("\r\n\(name): "), "\(name)")
                }
            }
        }
    }
}
