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
        var kinds: [CoverOutcome.Kind] = []
        for try await outcome in run { kinds.append(outcome.kind) }
        #expect(kinds == [.downloaded, .failed] && run.total == 2)
        let summary = try await CoverOutcomes([good, CoverOutcome(failed: failure)]).summary()
        #expect((summary.requested, summary.downloaded, summary.failed) == (2, 1, 1))
        good.digest = String(repeating: "ab", count: 32)
        good.date = Date()
        if case .arrived(let cover) = LibraryEvent.arrived(good) { #expect(cover.digest?.hasPrefix("abab") == true) }
        let listing = CoverListing(url: good.url, digest: "ab", bytes: 10, mediaType: "image/png", storedAt: Date())
        #expect(listing.isStale() && !listing.isPinned)
        let url = try #require(URL(string: "https://a.example/1"))
        #expect(Cover(url: url, data: Data([1]), mediaType: "image/png").digest.count == 64)
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
