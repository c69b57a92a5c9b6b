import AlbumLibrary
import CoverFetch
import CoverPack
import CurlHTTP
import Foundation
import Platform
import Testing

@testable import CoverCache
@testable import CoverLibrary

@Suite struct SelectionTests {
    private let urls = [
        "http://a.example/1.jpg", "http://a.example:8080/2.jpg", "https://A.example/3.jpg?x=1",
        "http://b.a.example/4.jpg",
        "http://[::1]:80/5.jpg", "http://xn--mller-kva.example/6.jpg",
    ]

    private func numbers(_ filter: CoverFilter) throws -> [Int] {
        let matcher = try CoverMatcher(filter)
        return try urls.indices.filter { matcher.matches(entry(try HTTPURL(location: urls[$0], ignoring: []).string)) }
            .map { $0 + 1 }
    }

    private func entry(_ key: String) -> CachedEntry {
        let metadata = EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: 1)
        return CachedEntry(
            line: EntryLine(metadata, [1].withUnsafeBytes { Digest(of: $0) }, bytes: 1), lastUsed: 1,
            row: EntryRow(id: 1, cover: 1))
    }

    @Test func `a host matches with and without a port, in any case and spelling, but no other host`() throws {
        #expect(try numbers(CoverFilter()) == [1, 2, 3, 4, 5, 6])
        #expect(try numbers(CoverFilter(host: "A.Example")) == [1, 2, 3])
        #expect(try numbers(CoverFilter(host: "a.example:8080")) == [2])
        #expect(try numbers(CoverFilter(host: "[::1]")) == [5])
        #expect(try numbers(CoverFilter(host: "müller.example")) == [6])
        #expect(try numbers(CoverFilter(host: "example")) == [])
        #expect(try numbers(CoverFilter(host: "a.example", pattern: "*.jpg")) == [1, 2])
        #expect(try numbers(CoverFilter(pattern: "*/?.jpg", isPinned: true)) == [])
    }

    @Test(arguments: ["a/b", "a b", "", "user@a", "a?b"])
    func `a text that is no host is an error`(host: String) {
        #expect(throws: LibraryError.self) { try CoverMatcher(CoverFilter(host: host)) }
    }

    @Test func `a cover that was evicted and is downloaded again is pinned as before`() async throws {
        try await withStage { stage in
            let url = try #require(URL(string: stage.url(1, "size=4000")))
            _ = try await stage.library.cover(for: url)
            let request = CoverSelection.requests([CoverRequest(url: url)])
            #expect(try await stage.library.pin(request) == PinSummary(covers: 1, changed: 1, failed: 0))
            #expect(try await stage.library.pin(request) == PinSummary(covers: 1, changed: 0, failed: 0))
            #expect(try await stage.library.remove(.all).pinned == 1)
            #expect(try await stage.library.evict(to: 0).covers == 0)
            #expect(try await stage.library.statistics().pinned == 1)
            #expect(try await stage.library.unpin(.all).changed == 1)
            #expect(try await stage.library.evict(to: 0).covers == 1)
        }
    }

    @Test func `a pack that is cancelled leaves no file, and an unpacked cover is announced`() async throws {
        try await withStage { stage in
            _ = try await stage.library.prefetch((0..<4).map { stage.url($0, "size=4000") }).summary()
            let file = URL(filePath: stage.folder + "/covers.pack")
            let library = stage.library
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await library.pack(to: file)
            }
            #expect(try await cancelled.value.isCancelled)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try await library.pack(to: file).covers == 4)
            try await library.remove(.all)
            var events = library.events().makeAsyncIterator()
            #expect(try await library.unpack(file).stored == 4)
            guard case .arrived(let cover) = await events.next() else {
                Issue.record("no event")
                return
            }
            #expect(try library.cached(cover.url)?.digest == cover.digest)
        }
    }
}
