import CoverLibrary
import Foundation
import HTTPTypes
import Testing

/// What a program can write with nothing but the public interface: a double of a library, for its own tests.
@Suite struct PublicInterfaceTests {
    @Test func `what runs, events and listings give can be made by a test`() async throws {
        let failure = CoverFailure(.status, url: "https://a.example/2", detail: "the server answered 500", status: 500)
        var good = CoverOutcome(.downloaded, url: "https://a.example/1", line: 1)
        good.bytes = 10
        let run = CoverOutcomes([good, CoverOutcome(failed: failure)])
        #expect(run.total == 2 && run.fractionCompleted == 0)
        var kinds: [CoverOutcome.Kind] = []
        for try await outcome in run { kinds.append(outcome.kind) }
        #expect(kinds == [.downloaded, .failed] && run.total == 2)
        let summary = try await CoverOutcomes([good, CoverOutcome(failed: failure)]).summary()
        #expect((summary.requested, summary.downloaded, summary.failed) == (2, 1, 1))
        good.digest = String(repeating: "ab", count: 32)
        good.date = Date()
        if case .arrived(let cover) = LibraryEvent.arrived(good) { #expect(cover.digest?.hasPrefix("abab") == true) }
        let url = try #require(URL(string: "https://a.example/1"))
        let listing = CoverListing(url: url, digest: "ab", bytes: 10, mediaType: "image/png", storedAt: Date())
        #expect(listing.url == url && listing.isStale() && !listing.isPinned)
        #expect(Cover(url: url, data: Data([1]), mediaType: "image/png").digest.count == 64)
    }

    private struct Transport: CoverTransport {
        func response(to request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(body: Data("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'/>".utf8))
        }
    }

    @Test func `a nightly run, a selection and a wall are written as the articles write them`() async throws {
        try await LibraryAPI.withTemporaryLibrary(transport: Transport()) { library in
            let urls = try (1...3).map { try #require(URL(string: "https://a.example/\($0).svg")) }
            let albums = urls.map { Album(title: "T", coverURL: $0.absoluteString) }
            let run = library.prefetch(urls)
            #expect(run.total == 3 && run.fractionCompleted == 0)
            #expect(try await run.summary().downloaded == 3)
            let night = library.refresh(
                RefreshRequest(scope: .all, selection: .requests(albums), maximumRequests: 2, maximumTime: .seconds(60))
            )
            let summary = try await night.summary()
            #expect(summary.settled == 2 && summary.remaining == 1 && night.fractionCompleted == 2 / 3, "\(summary)")
            #expect(try await library.pin(.requests(urls)).changed == 3)
            let filter = CoverFilter(pattern: "*/1.svg")
            #expect(try await library.remove(.matching(filter), dryRun: true).pinned == 1)
            let file = try #require(try await library.cachedFile(for: urls[0]))
            #expect(try file.isStale && file.read(0..<4) == Data("<svg".utf8))
            let window = library.window(of: Album.ID.self)
            window.show(albums.map { ($0.id, $0) })
            for await arrival in window.arrivals {
                #expect(try await arrival.cover(longestSide: 300).mediaType == "image/svg+xml")
                if arrival.id == albums.last?.id { window.close() }
            }
            let folder = FileManager.default.temporaryDirectory
            await #expect(throws: LibraryError.self) {
                try await library.place(Cover(url: urls[0], data: Data(), mediaType: "image/png"), in: folder)
            }
        }
    }

    @Test func `the parts of a request can be read`() throws {
        let url = try #require(URL(string: "https://a.example/1.jpg"))
        var request = CoverRequest(url: url, priority: .immediate, headerFields: [.authorization: "Bearer x"])
        request.line = 7
        #expect(request.location == "https://a.example/1.jpg" && request.url == url && request.album == nil)
        #expect(request.headerFields.fields[.authorization] == "Bearer x" && request.priority == .immediate)
        #expect(
            CoverRequest(album: Album(title: "Low Tide", coverURL: "https://a.example/2.jpg")).album?.title
                == "Low Tide")
    }
}
