import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// When the sessions of pages end.
@Suite(.timeLimit(.minutes(5))) struct PageSessionsTests {
    private func show(_ page: String, on stage: GalleryStage) async throws -> Int {
        try await stage.ask("POST", "/api/covers", json: #"{"page": "\#(page)", "view": []}"#).status
    }

    @Test func `a session that never connected ends after a minute, one that is connected does not`() async throws {
        try await withGallery { stage in
            let sessions = stage.gallery.model.sessions
            #expect(try await show("page-0001", on: stage) == 200)
            await sessions.sendHeartbeats(now: .now + .seconds(59))
            #expect(await !sessions.isEmpty)
            await sessions.sendHeartbeats(now: .now + .seconds(61))
            #expect(await sessions.isEmpty)
            let events = try await stage.events("page-0002")
            await sessions.sendHeartbeats(now: .now + .seconds(61))
            #expect(await !sessions.isEmpty)
            withExtendedLifetime(events) {}
        }
    }

    @Test func `a page hears of a cover that a page without a stream waits for, as tabs share one`() async throws {
        try await withGallery { stage in
            let id = try await stage.ids[3]
            let events = try await stage.events("page-0001")
            let reply = try await stage.ask(
                "POST", "/api/covers", json: #"{"page": "page-0002", "view": ["\#(id)"]}"#)
            #expect(reply.status == 200)
            let received = try await onThread { try events.receive(until: "event: cover\n") }
            let data = try await onThread { try received + events.receive(until: "\n\n") }
            #expect(data.contains("\"id\":\"\(id)\""))
        }
    }

    @Test func `covers that are asked for again count among those of a page`() async throws {
        try await withGallery { stage in
            let ids = String(repeating: "\"x\",", count: 1_000) + "\"x\""
            let body = #"{"page": "page-0001", "view": [\#(ids)], "again": [\#(ids)]}"#
            let status = try await stage.ask("POST", "/api/covers", json: body).status
            #expect(status == 400)
        }
    }

    @Test func `requests of pages that never connect lock no page out`() async throws {
        try await withGallery { stage in
            let sessions = stage.gallery.model.sessions
            for number in 0..<600 {
                _ = try await sessions.show([], near: [], again: [], on: "page-\(10_000 + number)")
            }
            #expect(try await show("page-0001", on: stage) == 200)
            _ = try await stage.events("page-0001")
            #expect(await sessions.count <= 512)
        }
    }

    @Test func `events have no HEAD, which would leave a session`() async throws {
        try await withGallery { stage in
            let reply = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("HEAD", "/api/events?page=page-0001"))
                return try wire.reply(toHead: true)
            }
            #expect(reply.status == 405 && reply.fields["allow"] == "GET")
            #expect(await stage.gallery.model.sessions.isEmpty)
        }
    }
}
