import CoverFetch
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// Each test runs in a separate process: a crash, which some of them guard against, would end all other tests.
@Suite(.timeLimit(.minutes(10))) struct PrefetchCancellationTests {
    @Test
    func
        `a cancelled run of slow covers returns at once; covers that arrived are cached, the rest are left, not failed`()
        async
    {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let urls = (1...5).map { stage.url($0) } + (6...500).map { stage.url($0, "delay=60000") }
                let outcomes = stage.library.prefetch(urls)
                let run = Task { try await outcomes.collect() }
                try await eventually { outcomes.progress.downloaded == 5 }
                run.cancel()
                let (collected, summary) = try await run.value
                #expect(summary.isCancelled)
                #expect(summary.downloaded == 5 && summary.requested == 5 && summary.failed == 0, "\(summary)")
                #expect(summary.remaining == 495 && collected.count == 5, "\(summary)")
                for number in 1...5 {
                    let cover = try stage.library.cached(stage.url(number))
                    #expect(cover?.bytes == CoverImage.jpeg(number: number))
                }
                let next = try await stage.library.prefetch((1...10).map { stage.url($0) }).summary()
                #expect(next.fresh == 5 && next.downloaded == 5, "\(next)")
            }
        }
    }

    @Test func `a cancelled run returns although its list has not ended`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
                let outcomes = stage.library.prefetch(list)
                let run = Task { try await outcomes.summary() }
                feed.yield(CoverRequest(location: stage.url(1)))
                try await eventually { outcomes.progress.downloaded == 1 }
                run.cancel()
                let summary = try await run.value
                #expect(summary.isCancelled && summary.downloaded == 1)
                feed.finish()
            }
        }
    }

    @Test func `a run that is cancelled before it starts returns and downloads nothing`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let urls = (1...100).map { stage.url($0, "delay=60000") }
                let summary = try await withThrowingTaskGroup(of: RunSummary.self) { group in
                    group.cancelAll()
                    group.addTask { try await stage.library.prefetch(urls).summary() }
                    return try await group.next()
                }
                #expect(summary?.isCancelled == true && summary?.downloaded == 0)
            }
        }
    }

    @Test func `a consumer that stops iterating stops the run`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let outcomes = stage.library.prefetch([stage.url(1)] + (2...100).map { stage.url($0, "hold=1") })
                for try await outcome in outcomes {
                    #expect(outcome.kind == .downloaded)
                    break
                }
                // Every request has an outcome or is left for the next run, without a response to any of the 99.
                try await eventually { outcomes.progress.remaining == 99 }
                #expect(outcomes.progress.isCancelled && outcomes.progress.requested == 1)
            }
        }
    }

    @Test func `cancelling one of two runs over the same covers costs the other run none`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let urls = (1...60).map { stage.url($0, "hold=1") }
                let first = Task { try await stage.library.prefetch(urls).summary() }
                try await eventually { stage.origin.requestCount >= 4 }
                async let second = stage.library.prefetch(urls).summary()
                first.cancel()
                let cancelled = try await first.value
                stage.origin.release()
                let whole = try await second
                #expect(cancelled.isCancelled && cancelled.settled == cancelled.requested)
                #expect(whole.failed == 0 && whole.settled == 60, "\(whole)")
            }
        }
    }

    @Test func `a run throws when its library closes, and the covers that it reported are cached`() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                // The list does not end while the library is open.
                let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
                for number in 1...300 { feed.yield(CoverRequest(location: stage.url(number))) }
                let run = stage.library.prefetch(list)
                var outcomes = run.makeAsyncIterator()
                var reported: [String] = []
                while reported.count < 20, let outcome = try await outcomes.next() { reported.append(outcome.url) }
                await stage.library.close()
                await #expect(throws: LibraryError.closed) {
                    while let outcome = try await outcomes.next() { reported.append(outcome.url) }
                }
                let summary = run.progress
                #expect(summary.settled == summary.requested && summary.settled == reported.count, "\(summary)")
                let next = try await stage.another { $0.isOffline = true }
                for url in reported { #expect(try next.cached(url) != nil) }
                await next.close()
                feed.finish()
            }
        }
    }

    @Test func `every one of many concurrent requests returns when the library closes meanwhile`() async {
        await #expect(processExitsWith: .success) {
            for round in 0..<20 {
                try await withStage { stage in
                    let ended = await withTaskGroup(of: Bool.self) { group in
                        for number in 1...64 {
                            group.addTask {
                                if number == 8 + round * 2 { await stage.library.close() }
                                let failure = await stage.library.failure(stage.url(number))
                                return failure == nil || failure?.kind == .closed
                            }
                        }
                        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                    }
                    #expect(ended == 64)
                }
            }
        }
    }
}
