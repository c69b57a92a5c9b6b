import CoverFetch
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// Header fields that a caller gives: where they are sent, and who gets the response.
@Suite(.timeLimit(.minutes(5))) struct RequestHeaderTests {
    private static let image = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>"

    private static func ok(_ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Connection: close\r\nContent-Length: \(image.utf8.count)\r\n\r\n\(image)"
    }

    private static let refusal = "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    private func request(
        _ url: String, _ fields: RequestHeaderFields, policy: CoverRequest.CachePolicy = .useCache
    ) throws -> CoverRequest {
        CoverRequest(url: try #require(URL(string: url)), cachePolicy: policy, headerFields: fields)
    }

    /// The heads of all requests. Nobody listens from now on.
    private func heads(of listener: Listener) async -> [String] {
        listener.stop()
        return await listener.requests.reduce(into: []) { $0.append($1) }
    }

    @Test func `a request's header fields are sent to its origin, and to no other that it redirects to`() async throws {
        try await withListener(answer: Self.ok()) { other in
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(other.url)/2.svg\r\nConnection: close\r\n"
            try await withListener(answer: redirect + "Content-Length: 0\r\n\r\n") { first in
                try await withStage { stage in
                    let fields: RequestHeaderFields = [.authorization: "Bearer one", .cookie: "id=1"]
                    _ = try await stage.library.cover(for: request(first.url + "/1.svg", fields))
                    let sent = await heads(of: first).joined(), led = await heads(of: other).joined()
                    #expect(sent.contains("Authorization: Bearer one\r\n") && sent.contains("Cookie: id=1\r\n"))
                    #expect(!led.isEmpty && !led.contains("Authorization") && !led.contains("Cookie"), "\(led)")
                }
            }
        }
    }

    @Test
    func
        `header fields of the configuration are sent with every request to their origin, and a request's replace them`()
        async throws
    {
        try await withListener(answer: Self.ok("ETag: \"1\"\r\n")) { listener in
            try await withStage {
                $0.headerFields = [
                    listener.url.uppercased().replacing("HTTP", with: "http"): [.authorization: "Bearer all"],
                    "https://elsewhere.example": [.authorization: "Bearer elsewhere"],
                ]
            } _: { stage in
                let url = listener.url + "/1.svg"
                _ = try await stage.library.cover(at: url)
                var all = RefreshRequest()
                all.scope = .all
                _ = try await stage.library.refresh(all).summary()
                _ = try await stage.library.cover(for: request(url, [.authorization: "Bearer own"], policy: .reload))
                let lines = await heads(of: listener).map { head in
                    head.split(separator: "\r\n").filter { $0.hasPrefix("Authorization") }.joined()
                }
                #expect(
                    lines == ["Authorization: Bearer all", "Authorization: Bearer all", "Authorization: Bearer own"])
            }
        }
    }

    /// A picture for those with the token, and another for strangers; neither stays fresh.
    private static func memberServer() throws -> Listener {
        try Listener { head in
            head.contains("Bearer good")
                ? ok("Cache-Control: max-age=0\r\n") : ok("X: 1\r\n").replacing("\"1\"", with: "\"2\"")
        }
    }

    @Test func `a cover that was got with a request's fields is refreshed with them, and is left out without`()
        async throws
    {
        let listener = try Self.memberServer()
        defer { listener.stop() }
        try await withStage { stage in
            let (url, other) = (listener.url + "/1.svg", listener.url + "/2.svg")
            let own = try request(url, [.authorization: "Bearer good"])
            _ = try await stage.library.cover(for: own)
            _ = try await stage.library.cover(at: other)
            var refresh = RefreshRequest()
            refresh.scope = .all
            let without = try await stage.library.refresh(refresh).summary()
            #expect(without.leftOut == 1 && without.requested == 1 && without.failed == 0, "\(without)")
            refresh.selection = .requests([own])
            let with = try await stage.library.refresh(refresh).summary()
            #expect(with.leftOut == 0 && with.downloaded == 1, "\(with)")
            refresh.selection = .requests([try request(url, [.referer: "Bearer good"])])
            #expect(try await stage.library.refresh(refresh).summary().leftOut == 1)
            // Only covers that were got with fields get some.
            (refresh.selection, refresh.headerFields) = (.all, [.authorization: "Bearer good"])
            refresh.maximumRequests = 10
            let all = try await stage.library.refresh(refresh).summary()
            #expect(all.leftOut == 0 && all.downloaded == 2, "\(all)")
            #expect(try stage.library.cached(url)?.bytes == Array(Self.image.utf8))
            let heads = await heads(of: listener)
            #expect(heads.filter { $0.contains("/1.svg") }.allSatisfy { $0.contains("Bearer good") }, "\(heads)")
            #expect(!heads.contains { $0.contains("/2.svg") && $0.contains("Bearer") }, "\(heads)")
        }
    }

    @Test func `a cover that was got with fields of the configuration is left out by one without them`() async throws {
        let listener = try Self.memberServer()
        defer { listener.stop() }
        let redirect = "HTTP/1.1 302 Found\r\nLocation: \(listener.url)/1.svg\r\nConnection: close\r\n"
        try await withListener(answer: redirect + "Content-Length: 0\r\n\r\n") { first in
            try await withStage { stage in
                var refresh = RefreshRequest()
                refresh.scope = .all
                let member = try await stage.another {
                    $0.headerFields = [listener.url: [.authorization: "Bearer good"]]
                }
                for url in [listener.url + "/2.svg", first.url + "/3.svg"] { _ = try await member.cover(at: url) }
                #expect(try await member.refresh(refresh).summary().downloaded == 2)
                await member.close()
                #expect(try await stage.library.refresh(refresh).summary().leftOut == 2)
            }
        }
    }

    @Test func `requests for one URL with different header fields do not share a refusal`() async throws {
        let listener = try Listener { $0.contains("Bearer good") ? Self.ok() : Self.refusal }
        defer { listener.stop() }
        try await withStage { stage in
            for number in 1...20 {
                let url = "\(listener.url)/\(number).svg"
                let requests = [
                    try request(url, [.authorization: "Bearer bad"]), try request(url, [:]),
                    try request(url, [.authorization: "Bearer good"]),
                ]
                let outcomes = try await stage.library.prefetch(requests).collect().outcomes
                let kinds = outcomes.sorted { ($0.line ?? 0) < ($1.line ?? 0) }.map(\.kind)
                #expect(kinds.last != .failed, "the one that is allowed gets the cover")
                #expect(kinds.first == .failed)
            }
        }
    }

    @Test func `a stored cover answers every request: the cache is private`() async throws {
        let listener = try Listener { $0.contains("Bearer good") ? Self.ok() : Self.refusal }
        defer { listener.stop() }
        try await withStage { stage in
            let url = listener.url + "/1.svg"
            _ = try await stage.library.cover(for: request(url, [.authorization: "Bearer good"]))
            _ = try await stage.library.cover(at: url)
            _ = try await stage.library.cover(for: request(url, [.authorization: "Bearer bad"]))
            #expect(await heads(of: listener).count == 1)
        }
    }

    @Test func `§4.1: a response that varies by a field of the request is returned, and not stored`() async throws {
        try await withListener(answer: Self.ok("Vary: Authorization\r\nCache-Control: max-age=9\r\n")) { listener in
            try await withStage { stage in
                let url = listener.url + "/1.svg"
                let cover = try await stage.library.cover(for: request(url, [.authorization: "Bearer one"]))
                #expect(cover.bytes == Array(Self.image.utf8))
                #expect(try stage.library.cached(url) == nil)
                // Without that field it is as any other.
                _ = try await stage.library.cover(at: url)
                #expect(try stage.library.cached(url) != nil)
            }
        }
    }

    @Test func `§4.1: nor is one to which a redirect led that varies by such a field`() async throws {
        let moved = "HTTP/1.1 302 Found\r\nLocation: /2.svg\r\nVary: Authorization\r\nConnection: close\r\n"
        let listener = try Listener { head in
            head.hasPrefix("GET /1.svg") ? moved + "Content-Length: 0\r\n\r\n" : Self.ok("Cache-Control: max-age=9\r\n")
        }
        defer { listener.stop() }
        try await withStage { stage in
            let url = listener.url + "/1.svg"
            let cover = try await stage.library.cover(for: request(url, [.authorization: "Bearer one"]))
            #expect(cover.bytes == Array(Self.image.utf8))
            #expect(try stage.library.cached(url) == nil)
            _ = try await stage.library.cover(at: url)
            #expect(try stage.library.cached(url) != nil)
        }
    }

    @Test
    func `a 404 to a request with header fields is not remembered, and one that is remembered does not count for it`()
        async throws
    {
        let missing = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let listener = try Listener { $0.contains("Bearer good") ? Self.ok() : missing }
        defer { listener.stop() }
        try await withStage { stage in
            let url = listener.url + "/1.svg"
            for _ in 1...2 {
                let failure = await #expect(throws: CoverFailure.self) {
                    try await stage.library.cover(for: request(url, [.authorization: "Bearer bad"]))
                }
                #expect(failure?.status == 404 && failure?.rememberedUntil == nil)
            }
            #expect(await stage.library.failure(url)?.isRemembered == false)
            #expect(await stage.library.failure(url)?.isRemembered == true)
            _ = try await stage.library.cover(for: request(url, [.authorization: "Bearer good"]))
        }
    }

    @Test func `neither descriptions nor the cache's files show the values of header fields`() async throws {
        let secret = "aVeryPrivateToken"
        try await withListener(answer: Self.ok()) { listener in
            try await withStage {
                $0.headerFields[listener.url] = [.authorization: "Basic \(secret)"]
            } _: { stage in
                let request = try request(listener.url + "/1.svg", [.authorization: "Bearer \(secret)"])
                var text = "\(request) \(stage.library.configuration) \(String(reflecting: request))"
                dump(request, to: &text)
                dump(stage.library.configuration, to: &text)
                let sent = TransportRequest(
                    url: request.url ?? URL(filePath: "/"), headerFields: request.headerFields.fields)
                dump(sent, to: &text)
                #expect(text.contains("Authorization") && !text.contains(secret))
                _ = try await stage.library.cover(for: request)
                await stage.library.close()
                let files = try #require(FileManager.default.enumerator(atPath: stage.folder)).compactMap {
                    $0 as? String
                }
                #expect(files.count > 3)
                for file in files {
                    guard let data = FileManager.default.contents(atPath: "\(stage.folder)/\(file)") else { continue }
                    #expect(data.range(of: Data(secret.utf8)) == nil, "\(file)")
                }
            }
        }
    }

    @Test func `fields that only Sleeve may set are left out`() throws {
        let fields: RequestHeaderFields = [
            .connection: "a", .ifNoneMatch: "\"1\"", .range: "bytes=0-", .userAgent: "me",
        ]
        #expect(fields.fields.map(\.name) == [.userAgent])
        #expect(throws: LibraryError.self) {
            var configuration = LibraryConfiguration(cacheDirectory: URL(filePath: "/tmp/none"))
            configuration.headerFields = ["music.example.org": [.authorization: "x"]]
            _ = try configuration.validated()
        }
    }
}
