import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// What redirects say of the cover that they lead to, and whose validators are sent where, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct RedirectRuleTests {
    /// Confirms whatever a condition names.
    private static func cover(_ request: ScriptedServer.Request, _ control: String) -> [UInt8] {
        let fields = ["ETag: \"1\"", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Cache-Control: \(control)"]
        if request.isConditional { return httpResponse("304 Not Modified", fields) }
        return httpResponse("200 OK", fields, CoverImage.jpeg(number: request.target == "/1.jpg" ? 1 : 2))
    }

    @Test func `RFC 9111 §4.3.1: validators are sent to the URL that gave them, wherever a redirect leads by then`()
        async throws
    {
        let place = Mutex("/1.jpg")
        let answer: ScriptedServer.Answer = { request in
            if request.target != "/cover" { return Self.cover(request, "max-age=0") }
            return httpResponse("302 Found", ["Location: \(place.withLock { $0 })"])
        }
        try await withScriptedServer(answer) { node in
            try await withScriptedServer(answer) { server in
                try await withStage { stage in
                    let url = server.url + "/cover"
                    func refresh() async throws -> (downloaded: Int, revalidated: Int) {
                        let summary = try await stage.library.refresh().summary()
                        return (summary.downloaded, summary.revalidated)
                    }
                    // An earlier version stored it, which did not tell whose validators they are.
                    try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"1\"\n")
                    #expect(try await refresh() == (1, 0))
                    #expect(try await refresh() == (0, 1))
                    place.withLock { $0 = "/2.jpg" }
                    #expect(try await refresh() == (1, 0))
                    #expect(try stage.library.cached(url)?.bytes == CoverImage.jpeg(number: 2))
                    place.withLock { $0 = node.url + "/2.jpg" }
                    #expect(try await refresh() == (0, 1))
                    #expect(node.requests.map(\.isConditional) == [true])
                    let others = server.requests.filter { $0.target != "/cover" }
                    #expect(others.map(\.isConditional) == [false, true, false])
                    let own = server.requests.filter { $0.target == "/cover" }
                    #expect(own.map(\.isConditional) == [true, false, false, false])
                }
            }
        }
    }

    /// A redirect's field, the requests that two calls send, whether the second returns a stale cover, and what a call offline is told.
    @Test(
        arguments: [
            ("X-Nothing: 1", 2, false, nil), ("Cache-Control: max-age=60", 2, false, nil),
            ("Cache-Control: max-age=0", 2, true, nil), ("Expires: 0", 2, true, nil),
            ("Cache-Control: must-revalidate", 2, false, nil),
            ("Cache-Control: max-age=0, must-revalidate", 4, false, .offline),
            ("Cache-Control: no-cache", 4, false, .offline), ("Vary: *", 4, false, .offline),
            ("Cache-Control: no-store", 4, false, .offline),
        ] as [(String, Int, Bool, CoverFailure.Kind?)])
    func `what a redirect says holds for the cover it led to`(
        field: String, requests: Int, isStale: Bool, offline kind: CoverFailure.Kind?
    ) async throws {
        try await withScriptedServer { request in
            request.target == "/cover"
                ? httpResponse("302 Found", ["Location: /1.jpg", field]) : Self.cover(request, "max-age=31536000")
        } _: { server in
            try await withStage { stage in
                let url = server.url + "/cover"
                _ = try await stage.library.cover(at: url)
                let second = try await stage.library.cover(at: url)
                #expect(second.isStale == isStale && second.bytes == CoverImage.jpeg(number: 1))
                #expect(server.requests.count == requests)
                #expect(server.requests.filter(\.isConditional).count == (requests > 2 ? 1 : 0))
                let entries = try stage.entries(), week = WallClock.milliseconds() + 7 * 86_400_000
                #expect(entries.count == 1)
                #expect(entries.allSatisfy { $0.metadata.freshUntil.map { $0 <= week } ?? false })
                let summary = try await stage.library.prefetch([url]).summary()
                // What may not be stored is missing: a prefetch asks for it.
                let isMissing = field.contains("no-store")
                #expect(summary.revalidated == (isMissing ? 1 : 0) && summary.fresh == (isMissing ? 0 : 1))
                #expect(server.requests.count == requests + (isMissing ? 2 : 0))
                let offline = try await stage.another { $0.isOffline = true }
                #expect(await offline.failure(url)?.kind == kind)
                await offline.close()
            }
        }
    }

    @Test(arguments: [["Cache-Control: no-store"], ["X-Nothing: 1", "Cache-Control: private, no-store"]])
    func `a cover whose redirect may not be stored stays when the redirect fails, and follows it elsewhere`(
        fields: [String]
    ) async throws {
        let target = Mutex<String?>("/1.jpg")
        try await withScriptedServer { request in
            guard let step = Int(request.target.dropFirst()) else { return Self.cover(request, "max-age=31536000") }
            if step + 1 < fields.count { return httpResponse("302 Found", ["Location: /\(step + 1)", fields[step]]) }
            return target.withLock { target in
                target.map { httpResponse("307 Temporary Redirect", ["Location: \($0)", fields[step]]) }
                    ?? httpResponse("403 Forbidden")
            }
        } _: { server in
            try await withStage { stage in
                let url = server.url + "/0"
                func prefetch() async throws -> RunSummary { try await stage.library.prefetch([url]).summary() }
                let first = try await prefetch()
                #expect(first.downloaded == 1)
                target.withLock { $0 = nil }
                #expect(try await prefetch().fresh == 1)
                #expect(try stage.library.cached(url)?.bytes == CoverImage.jpeg(number: 1))
                target.withLock { $0 = "/2.jpg" }
                #expect(try await prefetch().downloaded == 1)
                #expect(try stage.library.cached(url)?.bytes == CoverImage.jpeg(number: 2))
            }
        }
    }

    @Test(arguments: [
        ("X-Nothing: 1", 2), ("Cache-Control: no-store", 4), ("Cache-Control: max-age=0", 4), ("Vary: *", 4),
    ])
    func `what a redirect says holds for the 404 it led to`(field: String, requests: Int) async throws {
        try await withScriptedServer { request in
            request.target == "/cover"
                ? httpResponse("302 Found", ["Location: /1.jpg", field]) : httpResponse("404 Not Found")
        } _: { server in
            try await withStage { stage in
                for _ in 0..<2 { #expect(await stage.library.failure(server.url + "/cover")?.status == 404) }
                #expect(server.requests.count == requests)
            }
        }
    }
}

extension ScriptedServer.Request {
    fileprivate var isConditional: Bool { field("If-None-Match") != nil || field("If-Modified-Since") != nil }
}
