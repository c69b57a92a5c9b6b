import CoverFetch
import Dispatch
import Foundation
import OriginServer
import Testing

@testable import CoverLibrary

/// What the public interface says about cached covers.
@Suite(.timeLimit(.minutes(5))) struct ListingTests {
    @Test func `listings read the cached covers of a selection, with their times and pins`() async throws {
        try await withStage { stage in
            let urls = (1...3_000).map { stage.url($0, "same=\($0 % 7)&size=200") }
            #expect(try await stage.library.prefetch(urls).summary().downloaded == 3_000)
            try await stage.library.pin(.requests([CoverRequest(location: urls[0])]))
            var listed: [String: CoverListing] = [:]
            for try await cover in stage.library.listings() { listed[cover.key] = cover }
            #expect(listed.count == 3_000)
            let first = try #require(listed[urls[0]])
            #expect(first.isPinned && !first.isStale() && first.isStale(at: first.storedAt + 999_999_999))
            #expect(abs(first.storedAt.timeIntervalSinceNow) < 600 && first.mediaType == "image/jpeg")
            let pinned = stage.library.listings(.matching(CoverFilter(isPinned: true)))
            #expect(try await pinned.reduce(into: []) { $0.append($1.key) } == [urls[0]])
            let some = stage.library.listings(
                .requests([CoverRequest(location: urls[1]), CoverRequest(location: stage.url(9_999))]))
            #expect(try await some.reduce(into: []) { $0.append($1.key) } == [urls[1]])
        }
    }

    @Test func `listings of a closed library throw`() async throws {
        try await withStage { stage in
            await stage.library.close()
            await #expect(throws: LibraryError.closed) {
                for try await _ in stage.library.listings() {}
            }
        }
    }

    @Test func `a verification that takes long delays nothing that is stored, and ends when its task is cancelled`()
        async throws
    {
        try await withStage { stage in
            _ = try await stage.library.prefetch((1...20).map { stage.url($0) }).summary()
            for isRepair in [false, true] {
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                // A cover that takes long to be read.
                let gate = DispatchSemaphore(value: 0)
                let progress = { @Sendable (checked: Int, _: Int) in
                    if checked == 2 {
                        begin.yield()
                        gate.wait()
                    }
                }
                let task = Task {
                    try await isRepair
                        ? stage.library.repair(progress: progress) : stage.library.verify(progress: progress)
                }
                for await _ in begun { break }
                #expect(try await stage.library.cover(at: stage.url(isRepair ? 31 : 30)).bytes.count > 0)
                try await stage.library.pin(.requests([CoverRequest(location: stage.url(1))]))
                task.cancel()
                gate.signal()
                let found = try await task.value
                #expect(found.isCancelled && found.covers == 2 && found.defects.isEmpty, "\(found)")
            }
            #expect(try await stage.library.verify().covers == 22)
        }
    }

    @Test func `a verification ends when the library is closed, and a closed one verifies nothing`() async throws {
        try await withStage { stage in
            _ = try await stage.library.prefetch((1...5).map { stage.url($0) }).summary()
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let gate = DispatchSemaphore(value: 0)
            let task = Task {
                try await stage.library.verify { checked, _ in
                    if checked == 2 {
                        begin.yield()
                        gate.wait()
                    }
                }
            }
            for await _ in begun { break }
            await stage.library.close()
            gate.signal()
            await #expect(throws: LibraryError.closed) { try await task.value }
            await #expect(throws: LibraryError.closed) { try await stage.library.verify() }
        }
    }

    @Test func `verifying counts the covers of a whole cache and finds no defect`() async throws {
        try await withStage { stage in
            _ = try await stage.library.prefetch((1...20).map { stage.url($0) }).summary()
            let found = try await stage.library.verify()
            #expect(found.entries == 20 && found.defects.isEmpty && found.bytes > 0)
        }
    }
}
