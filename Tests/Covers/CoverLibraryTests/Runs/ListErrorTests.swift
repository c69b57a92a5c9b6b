import CoverFetch
import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// Lists that end early.
@Suite(.timeLimit(.minutes(5))) struct ListErrorTests {
    private struct Unreadable: Error, Equatable { var line: Int }

    private func list(_ urls: [String], then error: any Error) -> AsyncThrowingStream<CoverRequest, any Error> {
        AsyncThrowingStream { continuation in
            for url in urls { continuation.yield(CoverRequest(location: url, cachePolicy: .ignoreAbsence)) }
            continuation.finish(throwing: error)
        }
    }

    @Test(arguments: [0, 1, 5, 1_500])
    func `a list that throws loses nothing of what was read, and its error is thrown as it is`(count: Int) async throws
    {
        try await withStage { stage in
            let urls = (0..<count).map { stage.url($0 % 7) }
            let run = stage.library.prefetch(list(urls, then: Unreadable(line: count)))
            await #expect(throws: Unreadable(line: count)) { try await run.summary() }
            let summary = run.progress
            #expect(summary.requested == count && summary.settled == count && summary.remaining == 0, "\(summary)")
            #expect(summary.failed == 0 && summary.downloaded == min(count, 7) && !summary.isCancelled)
            #expect(summary.stopReason?.contains("Unreadable") == true)
        }
    }

    @Test func `the outcomes of what was read precede the error of the list`() async throws {
        try await withStage { stage in
            var kinds: [CoverOutcome.Kind] = []
            let error = await #expect(throws: Unreadable.self) {
                for try await outcome in stage.library.prefetch(
                    list((1...3).map { stage.url($0) }, then: Unreadable(line: 4)))
                {
                    kinds.append(outcome.kind)
                }
            }
            #expect(error?.line == 4 && kinds == [.downloaded, .downloaded, .downloaded])
        }
    }

    @Test func `a list that is cancelled ends the run as cancelled, with what was read of it`() async throws {
        try await withStage { stage in
            let run = stage.library.prefetch(list((1...5).map { stage.url($0) }, then: CancellationError()))
            let summary = try await run.summary()
            #expect(summary.isCancelled && summary.downloaded == 5 && summary.requested == 5, "\(summary)")
            #expect(summary.stopReason == nil)
        }
    }

    @Test func `a library that closes meanwhile is the error of a run, whatever its list throws`() async throws {
        try await withStage { stage in
            await stage.library.close()
            let run = stage.library.prefetch(list([stage.url(1)], then: Unreadable(line: 1)))
            await #expect(throws: LibraryError.closed) { try await run.summary() }
        }
    }

    @Test func `a summary survives being encoded`() async throws {
        try await withStage { stage in
            let summary = try await stage.library.prefetch([stage.url(1)]).summary()
            let copy = try JSONDecoder().decode(RunSummary.self, from: JSONEncoder().encode(summary))
            #expect(copy == summary && copy.duration > .zero)
        }
    }
}
