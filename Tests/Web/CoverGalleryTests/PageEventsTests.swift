import OriginServer
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// Events that pages get without having asked for a cover.
@Suite(.timeLimit(.minutes(10))) struct PageEventsTests {
    @Test func `every page gets an event for an edit, even for one of another program`() async throws {
        try await withGallery { stage in
            let events = [try await stage.events("page-0001"), try await stage.events("page-0002")]
            let other = try await LibraryAPI(configuration: stage.library.configuration)
            try await other.albums.delete(other.albums.all()[0].id)
            let message = "event: library\ndata: {\"version\":\"\(try await other.albums.current().revision)\"}"
            await other.close()
            for wire in events {
                let received = try await onThread { try wire.receive(until: message) }
                #expect(received.contains(message))
            }
        }
    }

    @Test func `a prefetch reports its progress and its end, and only one runs at a time`() async throws {
        try await withGallery(albums: { origin in
            (0..<20).map { Album(title: "T\($0)", coverURL: origin.coverURL($0) + "?hold=1") }
                + [Album(title: "Gone", coverURL: origin.coverURL(99) + "?status=410")]
        }) { stage in
            let events = try await stage.events("page-0001")
            #expect(try await stage.ask("POST", "/api/prefetch", json: "{}").status == 202)
            #expect(try await stage.ask("POST", "/api/prefetch", json: "{}").status == 409)
            stage.origin.release()
            let received = try await onThread { try events.receive(until: "\"running\":false") }
            #expect(
                received.contains("\"total\":21") && received.contains("\"downloaded\":20")
                    && received.contains("\"failed\":1"))
            #expect(received.contains("410"))
            #expect(try await stage.ask("POST", "/api/prefetch", json: "{}").status == 202)
            #expect(try await stage.ask("DELETE", "/api/prefetch").status == 204)
        }
    }

    @Test func `a prefetch that fills the cache says so, and names no cover as failed`() async throws {
        try await withGallery(
            library: {
                $0.capacity = 1 << 20
            },
            albums: { origin in
                (0..<150).map { Album(title: "T\($0)", coverURL: origin.coverURL($0)) }
            }
        ) { stage in
            let events = try await stage.events("page-0001")
            #expect(try await stage.ask("POST", "/api/prefetch", json: "{}").status == 202)
            let received = try await onThread { try events.receive(until: "\"running\":false") }
            let failed = received.split(separator: "\"failed\":").dropFirst()
            #expect(failed.count > 0 && failed.allSatisfy { $0.first == "0" }, "\(received)")
            #expect(received.contains("its capacity of 1 MiB is too small"), "\(received)")
        }
    }

    @Test func `closing a gallery ends the streams of pages that are connected`() async throws {
        try await withGallery { stage in
            let events = try await stage.events("page-0001")
            async let rest = onThread { try events.drain() }
            await stage.gallery.close()
            #expect(try await rest.ending != .complete)
        }
    }
}
