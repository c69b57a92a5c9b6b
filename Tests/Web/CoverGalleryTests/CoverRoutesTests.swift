import AlbumLibrary
import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct CoverRoutesTests {
    private let page = "page-0001"

    private func show(_ stage: GalleryStage, _ view: [String], near: [String] = [], again: [String] = []) async throws
        -> String
    {
        func list(_ ids: [String]) -> String { "[" + ids.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        let json =
            "{\"page\": \"\(page)\", \"view\": \(list(view)), \"near\": \(list(near)), \"again\": \(list(again))}"
        return try await stage.ask("POST", "/api/covers", json: json).text
    }

    @Test func `a missing cover is downloaded when a page shows it, and the page gets an event when it arrives`()
        async throws
    {
        try await withGallery { stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            #expect(try await show(stage, [ids[0]]) == "{\"covers\":{\"\(ids[0])\":{\"waiting\":true}}}")
            let received = try await onThread { try events.receive(until: "event: cover\n") }
            #expect(received.contains("event: cover\n"))
            let states = try await show(stage, [ids[0]])
            let kept = try await stage.cover(at: stage.origin.coverURL(0))
            let state = "{\"digest\":\"\(kept.digest)\"}"
            #expect(
                states == "{\"covers\":{\"\(ids[0])\":\(state)}}" && received.contains("\"digest\":\"\(kept.digest)\""))
            let cover = try await stage.ask("GET", "/covers/\(kept.digest)")
            #expect(cover.status == 200 && cover.fields["content-type"] == "image/jpeg", "\(cover.text.prefix(200))")
            let isWhole = cover.body == Array(kept.data)
            #expect(isWhole)
            #expect(stage.origin.requestCount(path: "/covers/0.jpg") == 1)
        }
    }

    @Test func `a cover that failed permanently says why, and is requested again only if a person asks for it`()
        async throws
    {
        try await withGallery(albums: { [Album(title: "A", coverURL: $0.coverURL(1) + "?status=404&times=1")] }) {
            stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            _ = try await show(stage, ids)
            let received = try await onThread { try events.receive(until: "reason") }
            #expect(received.contains("event: failure") && received.contains("Not found at"))
            #expect(received.contains("\"cause\":\"the server answered 404"))
            #expect(try await show(stage, ids).contains("\"failure\":\"Not found at 127.0.0.1:"))
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
            _ = try await show(stage, ids, again: ids)
            let brought = try await onThread { try events.receive(until: "event: cover\n") }
            #expect(brought.contains("event: cover\n"))
        }
    }

    @Test func `an album without a URL shows the archive's cover, and one whose first URL fails shows the next one's`()
        async throws
    {
        var archive = ""
        try await withGallery(
            library: { $0.coverArtArchive = URL(string: archive)! },
            albums: { origin in
                archive = "http://127.0.0.1:\(origin.port)"
                var named = Album(title: "A")
                named.musicBrainzReleaseID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
                var several = Album(title: "B", coverURL: origin.coverURL(1) + "?status=404")
                several.alternateCoverURLs = [origin.coverURL(2)]
                return [named, several]
            }
        ) { stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            _ = try await show(stage, ids)
            let received = try await onThread { () throws -> String in
                var text = ""
                while text.components(separatedBy: "event: cover\n").count < 3 {
                    text += try events.receive(until: "event: cover\n")
                }
                return text
            }
            #expect(!received.contains("event: failure"))
            let states = try await show(stage, ids)
            let digest = try await stage.cover(at: stage.origin.coverURL(2)).digest
            #expect(states.contains("\"\(ids[1])\":{\"digest\":\"\(digest)\"}"), "\(states)")
            #expect(states.components(separatedBy: "\"digest\"").count == 3, "\(states)")
        }
    }

    @Test func `covers in view are requested before those near it, and covers that a page has left are not requested`()
        async throws
    {
        // The only transfer stays in flight until the page has moved on, however long that takes.
        try await withGallery(
            library: { $0.parallel = 1 },
            albums: { origin in (0..<60).map { Album(title: "T\($0)", coverURL: origin.coverURL($0) + "?hold=1") } }
        ) { stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            _ = try await show(stage, [], near: Array(ids[0..<50]))
            try await eventually { stage.origin.requestCount == 1 }
            _ = try await show(stage, [ids[58], ids[59]], near: [ids[57]])
            try await eventually { await stage.outstanding == 4 }
            stage.origin.release()
            let arrived = try await hear(3, "cover", on: events)
            #expect(arrived.map { event in ids.firstIndex { event.contains("\"\($0)\"") } } == [58, 59, 57])
            #expect(stage.origin.requestCount == 4)
        }
    }

    /// Reads until `count` events of a kind have arrived. - Returns: These events, each whole.
    private func hear(_ count: Int, _ event: String, on events: Wire) async throws -> [String] {
        try await onThread {
            var text = ""
            while true {
                let piece = try events.receive(until: "\n\n")
                text += piece
                let whole = text.components(separatedBy: "\n\n").dropLast().filter { $0.contains("event: \(event)\n") }
                if whole.count >= count || piece.isEmpty { return whole }
            }
        }
    }

    @Test func `covers are requested in a page's order, and a new order applies to requests that were not sent yet`()
        async throws
    {
        try await withGallery(
            library: { $0.parallel = 1 },
            albums: { origin in (0..<40).map { Album(title: "T\($0)", coverURL: origin.coverURL($0) + "?hold=1") } }
        ) { stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            func list(_ indices: [Int]) -> [String] { indices.map { ids[$0] } }
            _ = try await show(stage, list([20, 21, 19, 22, 18]), near: list([23, 17, 24, 16]))
            try await eventually { stage.origin.requestCount > 0 }
            #expect(
                stage.origin.requestCount(path: "/covers/20.jpg") == 1,
                "the first cover of the page is requested first")
            _ = try await show(stage, list([5, 6, 4]), near: list([7, 20, 21]))
            try await eventually { await stage.outstanding == 6 }
            stage.origin.release()
            let received = try await hear(6, "cover", on: events)
            let order = received.compactMap { event in ids.firstIndex { event.contains("\"\($0)\"") } }
            #expect(order == [20, 5, 6, 4, 7, 21])
        }
    }

    /// Runs `body` with a page that showed twelve covers while their host was unreachable. The host is reachable again.
    private func withHostBack(_ body: (GalleryStage, [String], Wire) async throws -> Void) async throws {
        let first = try await Origin.start()
        let port = first.port
        await first.stop()
        try await withGallery(albums: { _ in
            (0..<12).map { Album(title: "T\($0)", coverURL: "http://127.0.0.1:\(port)/covers/\($0).jpg") }
        }) { stage in
            let ids = try await stage.ids
            let events = try await stage.events(page)
            _ = try await show(stage, ids)
            #expect(try await hear(12, "failure", on: events).count >= 12)
            var options = OriginOptions()
            options.port = port
            let back = try await Origin.start(options)
            try await body(stage, ids, events)
            await back.stop()
        }
    }

    @Test
    func
        `a retry sends a request to an unreachable host immediately, and the host's other covers follow by themselves`()
        async throws
    {
        try await withHostBack { stage, ids, events in
            _ = try await show(stage, ids, again: [ids[3]])
            let received = try await hear(12, "cover", on: events)
            #expect(received.count >= 12)
        }
    }

    @Test func `an open page recovers by itself when the host of its covers is reachable again`() async throws {
        try await withHostBack { _, _, events in
            let received = try await hear(12, "cover", on: events)
            #expect(received.count >= 12)
        }
    }

    @Test func `the page's state names the cached covers around its album, and more of them on the wall`() async throws
    {
        try await withGallery(albums: { origin in
            (0..<30).map { Album(id: "n\($0)", title: "T", coverURL: origin.coverURL($0)) }
        }) { stage in
            for number in [0, 1, 20, 21] { _ = try await stage.cover(at: stage.origin.coverURL(number)) }
            let client = "sleeve-client=client-1"
            var memento = LibraryMemento(album: "n20", index: 20, position: 20)
            try await stage.library.albums.save(memento, for: "client-1")
            var state = try await stage.ask("GET", "/api/state", ["Cookie": client]).text
            #expect(state.contains("\"n20\":{\"digest\":") && !state.contains("\"n1\":") && !state.contains("n19"))
            (memento.view, memento.tileSize) = ("wall", 120)
            try await stage.library.albums.save(memento, for: "client-1")
            state = try await stage.ask("GET", "/api/state", ["Cookie": client]).text
            #expect(state.contains("\"n1\":{\"digest\":") && state.contains("\"view\":\"wall\",\"tile\":120"))
        }
    }

    @Test func `a cover's path is its digest: its response is for ever, and no album or URL is looked up`() async throws
    {
        try await withGallery { stage in
            let cover = try await stage.cover(at: stage.origin.coverURL(0))
            // Neither the library file nor the origin is needed.
            try FileManager.default.removeItem(atPath: stage.folder + "/albums.json")
            await stage.origin.stop()
            let path = "/covers/\(cover.digest)"
            let reply = try await stage.ask("GET", path)
            #expect(reply.status == 200 && reply.body == Array(cover.data))
            #expect(reply.fields["cache-control"] == "private, max-age=31536000, immutable")
            let tag = try #require(reply.fields["etag"])
            #expect(tag == "\"\(cover.digest)\"")
            for tags in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let same = try await stage.ask("GET", path, ["If-None-Match": tags])
                #expect(same.status == 304 && same.body.isEmpty, "\(tags)")
            }
            #expect(try await stage.ask("GET", path, ["If-None-Match": "\"other\""]).status == 200)
            let head = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("HEAD", path))
                return try wire.reply(toHead: true)
            }
            #expect(head.status == 200 && head.fields["content-length"] == "\(cover.data.count)")
            let uses = try await stage.library.statistics().hits
            _ = try await stage.ask("GET", path)
            #expect(try await stage.library.statistics().hits == uses + 1)
        }
    }

    @Test(arguments: [true, false])
    func `a cover whose file is damaged or gone has no response, and is downloaded when a page shows it again`(
        isGone: Bool
    ) async throws {
        try await withGallery { stage in
            let cover = try await stage.cover(at: stage.origin.coverURL(0))
            let file = try #require(try await stage.library.coverFile(for: stage.origin.coverURL(0)))
            if isGone {
                try FileManager.default.removeItem(atPath: file)
            } else {
                try Data(repeating: 0, count: cover.data.count).write(to: URL(filePath: file))
            }
            #expect(try await stage.ask("GET", "/covers/\(cover.digest)").status == 404)
            let ids = try await stage.ids
            let events = try await stage.events(page)
            #expect(try await show(stage, [ids[0]]).contains("waiting"))
            _ = try await onThread { try events.receive(until: "event: cover\n") }
            let again = try await stage.ask("GET", "/covers/\(cover.digest)")
            #expect(again.status == 200 && again.body == Array(cover.data))
        }
    }

    @Test func `a path that is no digest of a cached cover has no cover`() async throws {
        try await withGallery { stage in
            let digest = try await stage.cover(at: stage.origin.coverURL(0)).digest
            let wrong = [
                String(repeating: "0", count: 64), String(digest.dropLast()), digest + "0",
                String(digest.dropLast()) + "g", String(digest.dropLast(2)) + "+a", "..%2F" + digest, "%00",
                try await stage.ids[0],
            ]
            for name in wrong where name != digest {
                let reply = try await stage.ask("GET", "/covers/\(name)")
                #expect(reply.status == 404 && reply.fields["cache-control"] == "no-store", "\(name)")
            }
        }
    }

    @Test func `stale covers are marked as such, in the page's state and when it shows them`() async throws {
        let queries = ["", "?cache-control=max-age=0"]
        try await withGallery(albums: { origin in
            queries.enumerated().map { Album(id: "n\($0)", title: "T", coverURL: origin.coverURL($0) + $1) }
        }) { stage in
            for (number, query) in queries.enumerated() {
                try await stage.cover(at: stage.origin.coverURL(number) + query)
            }
            for number in 0...1 {
                let state = try await stage.ask("GET", "/api/state").text
                let shown = try await show(stage, ["n0", "n1"])
                for text in [state, shown] {
                    let received = text.components(separatedBy: "\"n\(number)\":").last?.prefix { $0 != "}" } ?? ""
                    #expect(
                        received.contains("\"digest\":") && received.contains("\"stale\":true") == (number == 1),
                        "\(text)")
                }
            }
        }
    }

    @Test func `an SVG cover is served with a policy that forbids scripts, and its size is unknown`() async throws {
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/svg+xml\r\nContent-Length: \(drawing.utf8.count)\r\n"
        let server = try Listener(answer: "\(head)Connection: close\r\n\r\n\(drawing)")
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/s"
        try await withGallery(albums: { _ in [Album(id: "s", title: "S", coverURL: url)] }) { stage in
            let digest = try await stage.cover(at: url).digest
            let reply = try await stage.ask("GET", "/covers/\(digest)")
            #expect(reply.fields["content-type"] == "image/svg+xml")
            let source = try await stage.ask("GET", "/api/sources/s").text
            #expect(source.hasPrefix(#"{"source":"127.0.0.1","type":"image/svg+xml","bytes":92,"#))
            #expect(source.hasSuffix(#","unsized":true}"#))
            #expect(try await !stage.ask("GET", "/api/filters/small").text.contains("\"s\""))
            let policy = reply.fields["content-security-policy"] ?? ""
            #expect(
                policy.contains("default-src 'none'") && policy.contains("sandbox") && !policy.contains("script-src"))
            #expect(reply.fields["x-content-type-options"] == "nosniff")
        }
    }

    @Test(arguments: CoverFailure.Kind.allCases)
    func `every kind of failure has a short text for people, and the technical cause separately`(
        kind: CoverFailure.Kind
    ) {
        let detail = "Failed to connect to a.example port 80 after 0 ms: Couldn't connect to server"
        let problem = CoverProblem(
            CoverFailure(kind, url: "http://a.example:8731/x?token=1", detail: detail, status: 503))
        #expect(problem.reason.first?.isUppercase == true || problem.reason.hasPrefix("a.example:8731 "))
        #expect(problem.reason.hasSuffix(".") && problem.reason.count < 90)
        #expect(!problem.reason.contains("connect to a.example port") && !problem.reason.contains("token"))
        #expect(problem.cause == detail)
    }

    @Test func `a page gets an event when a prefetch downloads a cover that failed before`() async throws {
        try await withGallery(albums: { [Album(title: "T", coverURL: $0.coverURL(1) + "?status=404&times=1")] }) {
            stage in
            let events = try await stage.events(page)
            _ = try await show(stage, [try await stage.ids[0]])
            _ = try await onThread { try events.receive(until: "event: failure\n") }
            #expect(try await stage.ask("POST", "/api/prefetch", json: "{}").status == 202)
            let received = try await onThread { try events.receive(until: "event: cover\n") }
            #expect(received.contains("event: cover\n"))
        }
    }

    @Test func `a cover with a transient failure is retried while it is shown, one with a permanent failure is not`()
        async throws
    {
        try await withGallery(albums: {
            [
                Album(title: "T", coverURL: $0.coverURL(1) + "?status=503&times=1"),
                Album(title: "U", coverURL: $0.coverURL(2) + "?status=404&times=1"),
            ]
        }) { stage in
            let events = try await stage.events(page)
            _ = try await show(stage, try await stage.ids)
            let failed = try await onThread { () throws -> String in
                var text = ""
                while text.components(separatedBy: "event: failure\n").count < 3 {
                    text += try events.receive(until: "event: failure\n")
                }
                return text
            }
            #expect(failed.contains("event: failure\n"))
            await stage.gallery.model.sessions.retry(now: .now + .seconds(3_600))
            let received = try await onThread { try events.receive(until: "event: cover\n") }
            #expect(received.contains("event: cover\n"))
            #expect(stage.origin.requestCount == 3)
        }
    }

    @Test func `a page that reconnects gets new events, and its former stream ends`() async throws {
        try await withGallery { stage in
            let former = try await stage.events(page)
            _ = try await onThread { try former.receive(until: "event: cache") }
            let events = try await stage.events(page)
            #expect(try await onThread { try former.drain() }.ending != .complete)
            _ = try await show(stage, [try await stage.ids[0]])
            let received = try await onThread { try events.receive(until: "event: cover\n") }
            #expect(received.contains("event: cover\n"))
        }
    }
}
