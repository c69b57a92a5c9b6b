import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

/// The lines of `Gallery.md` that make nginx a caching proxy.
@Suite(.timeLimit(.minutes(5))) struct ProxyExampleTests {
    /// The directives of the example, those of its `server` block apart, with this server as its origin.
    private static func example(before origin: String) throws -> (http: String, server: String) {
        let article = try String(
            contentsOf: repository.appending(path: "Sources/Covers/CoverLibrary/CoverLibrary.docc/Gallery.md"),
            encoding: .utf8)
        let section = try #require(article.components(separatedBy: "## A caching proxy\n").last)
        let example = section.components(separatedBy: "```")[1].dropFirst("nginx".count)
            .replacing("https://covers.example.org", with: origin).replacing("/var/cache/nginx/", with: "")
        let lines = example.split(separator: "\n").filter { !$0.contains(" listen ") }
        let start = try #require(lines.firstIndex(of: "server {"))
        return (
            lines[..<start].joined(separator: "\n"), lines[(start + 1)...].dropLast().joined(separator: "\n")
        )
    }

    private func get(_ path: String, from port: Int, _ fields: [String: String] = [:]) async throws -> Reply {
        try await onThread {
            let wire = try Wire(port: port)
            try wire.send(httpRequest("GET", path, host: "covers.lan", fields))
            return try wire.reply()
        }
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func
        `nginx asks for a cover once, keeps what credentials got from others, and serves stale covers without the server`()
        async throws
    {
        let origin = try await Origin.start(OriginOptions())
        let example = try Self.example(before: origin.url)
        try await Nginx.with(.http, server: example.server, http: example.http) { nginx in
            let (fresh, stale) = ("/covers/1.jpg", "/covers/2.jpg?cache-control=max-age%3D1")
            #expect(try await get(fresh, from: nginx.port).fields["x-cache"] == "MISS")
            let hit = try await get(fresh, from: nginx.port)
            #expect(hit.fields["x-cache"] == "HIT" && hit.body == CoverImage.jpeg(number: 1))
            #expect(origin.requestCount == 1)
            for _ in 1...2 {
                let own = try await get(fresh, from: nginx.port, ["Authorization": "Bearer a"])
                #expect(own.fields["x-cache"] == "BYPASS" && own.status == 200)
            }
            #expect(origin.requestCount == 3)
            #expect(try await get(stale, from: nginx.port).fields["x-cache"] == "MISS")
            await origin.stop()
            try await eventually { try await get(stale, from: nginx.port).fields["x-cache"] != "HIT" }
            let last = try await get(stale, from: nginx.port)
            #expect(last.fields["x-cache"] == "STALE" && last.status == 200 && last.body == CoverImage.jpeg(number: 2))
        }
    }
}
