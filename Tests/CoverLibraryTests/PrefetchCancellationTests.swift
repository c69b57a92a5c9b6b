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
                let run = Task { await stage.library.prefetch(urls, progress: progress) }
                var seen: [String] = []
                for await url in arrivals {
                    seen.append(url)
                    if seen.count == 5 { break }
                }
                let begun = ContinuousClock.now
                run.cancel()
                let summary = await run.value
                #expect(begun.duration(to: .now) < .seconds(20), "below the time limit of a transfer")
                #expect(summary.isCancelled)
                #expect(summary.downloaded == 5 && summary.requested == 5 && summary.failed == 0, "\(summary)")
                #expect(summary.remaining == 495 && told.withLock { $0 } == 5, "\(summary)")
                for number in 1...5 {
                    let cover = try stage.library.cachedCover(for: stage.url(number))
                    #expect(cover?.bytes == CoverImage.jpeg(number: number))
                }
                let next = await stage.library.prefetch((1...10).map { stage.url($0) })
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
                let run = Task { await stage.library.prefetch(list, progress: progress) }
                feed.yield(CoverRequest(url: stage.url(1)))
                while progress.summary.downloaded == 0 { await Task.yield() }
                run.cancel()
                let summary = await run.value
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
                let summary = await withTaskGroup(of: PrefetchSummary.self) { group in
                    group.cancelAll()
                    group.addTask { await stage.library.prefetch(urls) }
                    return await group.next() ?? PrefetchSummary()
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
                let first = Task { await stage.library.prefetch(urls) }
                while stage.origin.requestCount < 4 { await Task.yield() }
                async let second = stage.library.prefetch(urls)
                first.cancel()
                let cancelled = await first.value
                stage.origin.release()
                let whole = await second
                #expect(cancelled.isCancelled && cancelled.settled == cancelled.requested)
                #expect(whole.failed == 0 && whole.settled == 60, "\(whole)")
            }
        }
    }

    @Test("a library that closes during a run ends it, and keeps what it said had arrived")
    func closing() async {
        await #expect(processExitsWith: .success) {
            try await withStage { stage in
                let (arrivals, arrived) = AsyncStream.makeStream(of: String.self)
                let progress = PrefetchProgress { outcome in
                    if outcome.kind == .downloaded { arrived.yield(outcome.url) }
                }
                async let run = stage.library.prefetch((1...300).map { stage.url($0) }, progress: progress)
                var seen: [String] = []
                for await url in arrivals {
                    seen.append(url)
                    if seen.count == 20 { break }
                }
                await stage.library.close()
                let summary = await run
                #expect(summary.settled == summary.requested, "\(summary)")
                let next = try await stage.another { $0.isOffline = true }
                for url in seen { #expect(try next.cachedCover(for: url) != nil) }
                await next.close()
            }
        }
    }
}
