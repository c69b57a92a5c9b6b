import CoverFetch
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct BackPressureTests {
    @Test func `a list is read on only while its outcomes are read`() async throws {
        try await withStage { stage in
            let read = Mutex(0)
            let endless = AsyncStream {
                let number = read.withLock { read in
                    read += 1
                    return read
                }
                return CoverRequest(location: "https://covers.invalid/\(number).jpg")
            }
            var outcomes = stage.library.prefetch(endless).makeAsyncIterator() as Optional
            let first = try await outcomes?.next()
            #expect(first?.failure?.kind == .notCached)
            try await eventually { read.withLock { $0 } > 4_096 }
            // Other calls proceed meanwhile, long enough for an unthrottled run to read many times as much.
            for number in 1...50 { _ = try await stage.library.cover(at: stage.url(number)) }
            let before = read.withLock { $0 }
            #expect(before < 12_000)
            for _ in 0..<20_000 { _ = try await outcomes?.next() }
            #expect(read.withLock { $0 } > 20_000)
            outcomes = nil
        }
    }

    @Test func `transfers proceed although no outcome is read`() async throws {
        try await withStage { stage in
            let urls = (1...200).map { stage.url($0) }
            let run = stage.library.prefetch(urls)
            var outcomes = run.makeAsyncIterator()
            _ = try await outcomes.next()
            try await eventually { run.progress.downloaded == 200 }
            #expect(run.total == 200)
            var count = 1
            while try await outcomes.next() != nil { count += 1 }
            #expect(count == 200)
        }
    }

    @Test func `cancelling the task that iterates stops a run that waits for its reader`() async throws {
        try await withStage { stage in
            let endless = AsyncStream { CoverRequest(location: "https://covers.invalid/1.jpg") }
            let run = stage.library.prefetch(endless)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            let reader = Task {
                var outcomes = run.makeAsyncIterator()
                _ = try await outcomes.next()
                // Ends when the task is cancelled.
                for await _ in released {}
                while try await outcomes.next() != nil {}
                return run.progress
            }
            try await eventually { run.progress.settled >= 4_096 }
            reader.cancel()
            let summary = try await reader.value
            #expect(summary.isCancelled)
            release.finish()
        }
    }
}
