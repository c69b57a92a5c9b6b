import OriginServer
import Synchronization
import Testing

@testable import CoverLibrary

/// Each in a process of its own: what some of these guard against is a crash, which would take every other test with it.
@Suite(.timeLimit(.minutes(10))) struct PrefetchCancellationTests {
    @Test("cancelling a run of slow covers returns at once; what had arrived is there, the rest is left and not failed")
    func slowCovers() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (arrivals, arrived) = AsyncStream.makeStream(of: String.self)
                let told = Mutex(0)
                let progress = PrefetchProgress { outcome in
                    told.withLock { $0 += 1 }
                    if outcome.kind == .downloaded { arrived.yield(outcome.url) }
                }
                let urls = (1...5).map { stage.url($0) } + (6...500).map { stage.url($0, "delay=60000") }
                let run = Task { try await stage.library.prefetch(urls, progress: progress) }
                var seen: [String] = []
                for await url in arrivals {
                    seen.append(url)
                    if seen.count == 5 { break }
                }
                let begun = ContinuousClock.now
                run.cancel()
                let summary = try await run.value
                #expect(begun.duration(to: .now) < .seconds(20), "below the time limit of a transfer")
                #expect(summary.isCancelled)
                #expect(summary.downloaded == 5 && summary.requested == 5 && summary.failed == 0, "\(summary)")
                #expect(summary.remaining == 495 && told.withLock { $0 } == 5, "\(summary)")
                for number in 1...5 {
                    let cover = try stage.library.cachedCover(for: stage.url(number))
                    #expect(cover?.bytes == CoverImage.jpeg(number: number))
                }
                let next = try await stage.library.prefetch((1...10).map { stage.url($0) })
                #expect(next.fresh == 5 && next.downloaded == 5, "\(next)")
            }
        }
    }

    @Test("cancelling a run whose list has not ended returns")
    func endlessList() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
                let progress = PrefetchProgress()
                let run = Task { try await stage.library.prefetch(list, progress: progress) }
                feed.yield(CoverRequest(url: stage.url(1)))
                while progress.summary.downloaded == 0 { await Task.yield() }
                run.cancel()
                let summary = try await run.value
                #expect(summary.isCancelled && summary.downloaded == 1)
                feed.finish()
            }
        }
    }

    @Test("a run that is cancelled before it begins fetches nothing and returns")
    func cancelledBefore() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let urls = (1...100).map { stage.url($0, "delay=60000") }
                let summary = try await withThrowingTaskGroup(of: PrefetchSummary.self) { group in
                    group.cancelAll()
                    group.addTask { try await stage.library.prefetch(urls) }
                    return try await group.next() ?? PrefetchSummary()
                }
                #expect(summary.isCancelled && summary.downloaded == 0)
            }
        }
    }

    @Test("cancelling one of two runs over the same covers costs the other none")
    func oneOfTwo() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let urls = (1...60).map { stage.url($0, "hold=1") }
                let first = Task { try await stage.library.prefetch(urls) }
                while stage.origin.requestCount < 4 { await Task.yield() }
                async let second = stage.library.prefetch(urls)
                first.cancel()
                let cancelled = try await first.value
                stage.origin.release()
                let whole = try await second
                #expect(cancelled.isCancelled && cancelled.settled == cancelled.requested)
                #expect(whole.failed == 0 && whole.settled == 60, "\(whole)")
            }
        }
    }

    @Test("a run whose library closes throws, and covers that it said had arrived are kept")
    func closing() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (arrivals, arrived) = AsyncStream.makeStream(of: String.self)
                let progress = PrefetchProgress { outcome in
                    if outcome.kind == .downloaded { arrived.yield(outcome.url) }
                }
                // The list goes on for as long as the library takes it.
                let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
                for number in 1...300 { feed.yield(CoverRequest(url: stage.url(number))) }
                let run = Task { try await stage.library.prefetch(list, progress: progress) }
                var seen: [String] = []
                for await url in arrivals {
                    seen.append(url)
                    if seen.count == 20 { break }
                }
                await stage.library.close()
                await #expect(throws: LibraryError.closed) { try await run.value }
                let summary = progress.summary
                #expect(summary.settled == summary.requested, "\(summary)")
                let next = try await stage.another { $0.isOffline = true }
                for url in seen { #expect(try next.cachedCover(for: url) != nil) }
                await next.close()
                feed.finish()
            }
        }
    }

    @Test("after close covers and runs are refused, whether or not anything was fetched before")
    func closed() async {
        await #expect(processExitsWith: .success) {
            for hasFetched in [true, false] {
                try await withStage { stage in
                    if hasFetched { _ = try await stage.library.cover(for: stage.url(1)) }
                    await stage.library.close()
                    #expect(try await stage.library.failure(stage.url(2))?.kind == .cancelled)
                    await #expect(throws: LibraryError.closed) { try await stage.library.prefetch([stage.url(3)]) }
                    await #expect(throws: LibraryError.closed) { try await stage.library.refresh() }
                }
            }
        }
    }

    @Test("covers asked for while the library closes come or fail, and none waits for ever")
    func closingMeanwhile() async {
        await #expect(processExitsWith: .success) {
            for round in 0..<20 {
                try await withStage { stage in
                    let ended = await withTaskGroup(of: Bool.self) { group in
                        for number in 1...64 {
                            group.addTask {
                                if number == 8 + round * 2 { await stage.library.close() }
                                let failure = try? await stage.library.failure(stage.url(number))
                                return failure == nil || failure?.kind == .cancelled
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
