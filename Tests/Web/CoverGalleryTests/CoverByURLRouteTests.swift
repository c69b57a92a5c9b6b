import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// `/cover?url=URL`.
@Suite(.timeLimit(.minutes(10))) struct CoverByURLRouteTests {
    /// The path of a cover of the origin.
    private func path(_ url: String, _ more: String = "") -> String {
        let encoded = url.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("&", with: "%26")
        return "/cover?url=\(encoded)\(more)"
    }

    private func withOpenGallery(
        library configure: (inout LibraryConfiguration) -> Void = { _ in }, _ body: (GalleryStage) async throws -> Void
    ) async throws {
        try await withGallery({ $0.allowsPrivateAddresses = true }, library: configure, body)
    }

    private struct Failure: Decodable {
        var error, kind: String
        var status: Int?
    }

    /// The failure that a path is answered with.
    private func failure(_ path: String, _ stage: GalleryStage, _ status: Int) async throws -> Failure {
        let reply = try await stage.ask("GET", path)
        #expect(reply.status == status, "\(path): \(reply.status) \(reply.text.prefix(300))")
        #expect(reply.fields["cache-control"] == "no-store" && reply.fields["content-type"] == "application/json")
        return try JSONDecoder().decode(Failure.self, from: Data(reply.body))
    }

    @Test func `a cover is downloaded once, and its response says what it is and how long it is fresh`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1) + "?cache-control=max-age=1000"
            for _ in 0..<2 {
                let reply = try await stage.ask("GET", path(url))
                let cover = try await stage.cover(at: url)
                #expect(reply.status == 200 && reply.body == Array(cover.data))
                #expect(reply.fields["content-type"] == "image/jpeg")
                #expect(reply.fields["content-length"] == "\(cover.data.count)")
                #expect(reply.fields["etag"] == "\"\(cover.digest)\"")
                let seconds = (reply.fields["cache-control"] ?? "").wholeMatch(of: /private, max-age=([0-9]+)/)
                #expect(seconds.flatMap { Int($0.1) }.map { (1...1_000).contains($0) } == true)
                #expect(reply.fields["x-content-type-options"] == "nosniff")
                #expect(reply.fields["content-security-policy"]?.contains("sandbox") == true)
            }
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `a URL is read as forms write it: a space is a plus, and a plus is encoded`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1)
            for (text, sent) in [("?a=b+c", "?a=b%20c"), ("?a=b%2Bc", "?a=b+c"), ("?a=b%20d", "?a=b%20d")] {
                let part = (url + text).replacing("?", with: "%3F").replacing("=", with: "%3D")
                let reply = try await stage.ask("GET", "/cover?url=\(part)")
                let stored = try await stage.library.cachedCover(for: try #require(URL(string: url + sent)))
                #expect(reply.status == 200 && stored != nil, "\(text)")
            }
        }
    }

    @Test func `a stale cover must be asked for again`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1) + "?cache-control=max-age=0"
            for _ in 0..<2 {
                let fields = try await stage.ask("GET", path(url)).fields
                #expect(fields["cache-control"] == "private, no-cache")
            }
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `clients that want a cover at the same time cause one request`() async throws {
        try await withOpenGallery { stage in
            let path = path(stage.origin.coverURL(1) + "?hold=1")
            let wires = try await onThread {
                try (0..<20).map { _ in
                    let wire = try Wire(port: stage.port)
                    try wire.send(stage.request("GET", path))
                    return wire
                }
            }
            try await eventually { stage.origin.requestCount == 1 }
            stage.origin.release()
            for wire in wires { #expect(try await onThread { try wire.reply().status } == 200) }
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `the transfer of a client that has gone is cancelled`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1) + "?hold=1"
            let wire = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", path(url)))
                return wire
            }
            try await eventually { stage.origin.requestCount == 1 }
            try await onThread { try wire.endSending() }
            try await eventually { stage.origin.openConnectionCount == 0 }
            stage.origin.release()
        }
    }

    @Test func `a client that has the cover gets 304, and HEAD gets the fields alone`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1)
            let cover = try await stage.cover(at: url)
            for tags in ["\"\(cover.digest)\"", "W/\"\(cover.digest)\"", "\"x\", \"\(cover.digest)\"", "*"] {
                let reply = try await stage.ask("GET", path(url), ["If-None-Match": tags])
                #expect(reply.status == 304 && reply.fields["etag"] == "\"\(cover.digest)\"", "\(tags)")
            }
            let head = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("HEAD", path(url)))
                return try wire.reply(toHead: true)
            }
            #expect(head.status == 200 && head.fields["content-length"] == "\(cover.data.count)")
        }
    }

    @Test func `w names one of the sizes that are kept`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1) + "?size=120000"
            let reply = try await stage.ask("GET", path(url, "&w=300"))
            let digest = try await stage.cover(at: url).digest
            let small = try await stage.library.cachedCover(for: CoverRequest(digest: digest), longestSide: 300)
            #expect(reply.status == 200 && reply.body == small.map { Array($0.data) })
            #expect(reply.fields["etag"] == "\"\(digest)-300\"")
            #expect(try await stage.ask("GET", path(url, "&w=299")).status == 400)
        }
    }

    @Test func `a size of a cover that must not be kept is made for its client`() async throws {
        try await withOpenGallery { stage in
            let url = stage.origin.coverURL(1) + "?size=120000&cache-control=no-store"
            let reply = try await stage.ask("GET", path(url, "&w=300"))
            #expect(reply.status == 200 && reply.fields["content-type"] == "image/jpeg")
            #expect(reply.body.count < 60_000 && reply.fields["etag"]?.hasSuffix("-300\"") == true)
            #expect(reply.fields["cache-control"] == "no-store")
        }
    }

    @Test func `a failure has a status and a reason`() async throws {
        let port = try closedPort()
        try await withOpenGallery(library: { ($0.timeout, $0.maximumSize) = (.seconds(1), 1 << 20) }) { stage in
            func url(_ number: Int, _ query: String) -> String { path(stage.origin.coverURL(number) + "?" + query) }
            for status in [404, 410] {
                // Answered, then remembered.
                for _ in 0..<2 {
                    let absent = try await failure(url(status, "status=\(status)"), stage, 404)
                    #expect(absent.kind == "status" && absent.status == status)
                }
                #expect(stage.origin.requestCount(path: "/covers/\(status).jpg") == 1)
            }
            #expect(try await failure(url(1, "status=403"), stage, 502).status == 403)
            #expect(try await failure(url(2, "size=2000000"), stage, 502).kind == "tooLarge")
            #expect(try await failure(url(3, "hold=1"), stage, 504).kind == "timeout")
            let pausing = url(4, "status=503&retry-after=100")
            #expect(try await failure(pausing, stage, 503).status == 503)
            #expect(
                Int(try await stage.ask("GET", pausing).fields["retry-after"] ?? "").map { (1...101).contains($0) }
                    == true)
            let page = try Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
            defer { page.stop() }
            #expect(try await failure(path(page.url + "/"), stage, 502).kind == "notAnImage")
            #expect(try await failure(path("http://127.0.0.1:\(port)/1.jpg"), stage, 502).kind == "connect")
            #expect(try await failure(path("https://covers.invalid/1.jpg"), stage, 404).kind == "notCached")
            for location in ["x", "ftp://a.example/1.jpg", "http://user:hunter2@a.example/1.jpg"] {
                let wrong = try await failure(path(location), stage, 400)
                #expect(wrong.kind == "badURL" && !wrong.error.contains("hunter2"), "\(location)")
            }
            for wrong in ["/cover", "/cover?url="] { #expect(try await stage.ask("GET", wrong).status == 400) }
            stage.origin.release()
        }
    }

    @Test func `offline, cached covers are there, and others are not`() async throws {
        try await withOpenGallery(library: { $0.isOffline = true }) { stage in
            let url = try #require(URL(string: stage.origin.coverURL(1)))
            try await stage.library.store(Data(CoverImage.jpeg(number: 1)), for: url)
            #expect(try await stage.ask("GET", path(url.absoluteString)).status == 200)
            #expect(try await failure(path(stage.origin.coverURL(2)), stage, 504).kind == "offline")
            #expect(stage.origin.requestCount == 0)
        }
    }

    @Test func `private addresses are refused by number and by name, on open connections, too`()
        async throws
    {
        try await withGallery { stage in
            let port = stage.origin.port
            // The library itself may connect there, and its connection stays open.
            let own = try await stage.cover(at: stage.origin.coverURL(1))
            for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0"] {
                let refused = try await failure(path("http://\(host):\(port)/covers/2.jpg"), stage, 403)
                #expect(refused.kind == "refusedAddress", "\(host)")
            }
            #expect(stage.origin.requestCount == 1)
            // What the library has is no new connection.
            #expect(try await stage.ask("GET", path(stage.origin.coverURL(1))).body == Array(own.data))
        }
    }

    @Test func `behind the base path it is there alone`() async throws {
        try await withGallery {
            $0.base = BasePath("/sleeve/")!
        } _: { stage in
            let (below, beside) = (try await stage.ask("GET", "/sleeve/cover"), try await stage.ask("GET", "/cover"))
            #expect(below.status == 400 && beside.status == 404)
        }
    }

    @Test func `another program sends the token in Authorization`() async throws {
        let token = "0123456789abcdef0123"
        try await withGallery {
            ($0.token, $0.allowsPrivateAddresses) = (token, true)
        } _: { stage in
            let path = path(stage.origin.coverURL(1))
            #expect(try await stage.ask("GET", path).status == 401)
            #expect(try await stage.ask("GET", path, ["Authorization": "Bearer \(token)"]).status == 200)
            let inAddress = try await stage.ask("GET", path + "&token=\(token)")
            #expect(inAddress.status == 200 && inAddress.fields["set-cookie"] == nil)
        }
    }
}
