import CoverFetch
import Foundation
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// The threads, tasks and descriptors of a library, and their end.
@Suite(.timeLimit(.minutes(10))) struct LifecycleTests {
    @Test(arguments: [true, false])
    func `after close every call throws, whether or not anything was downloaded`(hasDownloaded: Bool) async throws {
        try await withStage { stage in
            let (library, url) = (stage.library, stage.url(1))
            if hasDownloaded { _ = try await library.cover(at: url) }
            let requests = stage.origin.requestCount
            await library.close()
            await library.close()
            #expect(await library.failure(url)?.kind == .closed)
            #expect(throws: CoverFailure.self) { try library.cached(url) }
            await #expect(throws: LibraryError.closed) { try await library.prefetch([url]).summary() }
            await #expect(throws: LibraryError.closed) { try await library.refresh().summary() }
            let pack = URL(filePath: stage.folder + "/pack")
            let selections = [CoverSelection.all, .requests([CoverRequest(location: url)])]
            await #expect(throws: LibraryError.closed) { try await library.statistics() }
            await #expect(throws: LibraryError.closed) { try await library.evict(to: 0) }
            await #expect(throws: LibraryError.closed) { try await library.evictedNewCovers() }
            for selection in selections {
                await #expect(throws: LibraryError.closed) { try await library.pack(selection, to: pack) }
                await #expect(throws: LibraryError.closed) { try await library.pin(selection) }
                await #expect(throws: LibraryError.closed) { try await library.unpin(selection) }
                await #expect(throws: LibraryError.closed) { try await library.remove(selection) }
            }
            await #expect(throws: LibraryError.closed) { try await library.verify { _, _ in } }
            await #expect(throws: LibraryError.closed) { try await library.repair { _, _ in } }
            #expect(!FileManager.default.fileExists(atPath: pack.relativePath))
            await #expect(throws: LibraryError.self) { try await library.albums.all() }
            await #expect(throws: LibraryError.self) { try await library.albums.add(Album(title: "A")) }
            for await event in library.events() { Issue.record("\(event)") }
            #expect(stage.origin.requestCount == requests)
        }
    }

    @Test func `a library that is closed has no file of its cache open`() async throws {
        try await withStage { stage in
            _ = try await stage.library.cover(at: stage.url(1))
            _ = try await stage.library.statistics()
            func files() -> [String] {
                let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
                let paths = numbers.compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                }
                return paths.filter { $0.hasPrefix(stage.folder) }
            }
            #expect(!files().isEmpty)
            await stage.library.close()
            #expect(files().isEmpty, "\(files())")
        }
    }

    @Test func `a program that a signal interrupts keeps what has arrived, and knows what is left`() async throws {
        try await withStage { stage in
            let urls = [stage.url(1), stage.url(2, "hold=1")]
            let run = stage.library.prefetch(urls)
            let summary = try await withGracefulInterruption(by: [SIGUSR2]) {
                for try await outcome in run {
                    #expect(outcome.kind == .downloaded)
                    kill(getpid(), SIGUSR2)
                }
                return run.progress
            }
            #expect(summary.isCancelled && summary.downloaded == 1 && summary.remaining == 1, "\(summary)")
            #expect(run.total == 2 && run.fractionCompleted == 0.5)
            await stage.library.close()
            let next = try await stage.another()
            #expect(
                try await next.statuses(of: urls.map { CoverRequest(location: $0) }).map { $0 != nil } == [true, false])
            await next.close()
        }
    }

    @Test func `a second signal does what it did before, and what is no signal is left out`() async {
        await #expect(processExitsWith: .signal(SIGUSR1)) {
            let wasCancelled = try await withGracefulInterruption(by: [SIGUSR1, 0, -1, 999, .max, .min, SIGKILL]) {
                kill(getpid(), SIGUSR1)
                while !Task.isCancelled { await Task.yield() }
                return true
            }
            guard wasCancelled else { return }
            kill(getpid(), SIGUSR1)
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        await #expect(processExitsWith: .signal(SIGUSR2)) {
            try await withGracefulInterruption(by: [SIGUSR2]) {}
            kill(getpid(), SIGUSR2)
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    @Test func `after close edits are not sent, and the next library sends them`() async throws {
        let remote = try RemoteLibrary()
        try await withStage {
            $0.remote = URL(string: remote.url)
        } _: { stage in
            try await stage.library.albums.add(Album(title: "A"))
            await stage.library.close()
            await #expect(throws: LibraryError.closed) { try await stage.library.albums.sendEdits() }
            #expect(remote.edits.isEmpty)
            let next = try await stage.another { $0.remote = URL(string: remote.url) }
            let outbox = try await next.albums.sendEdits()
            #expect(outbox.sent == 1 && outbox.problem == nil && remote.edits == ["add A"])
            await next.close()
        }
        remote.stop()
    }

    @Test func `the event streams of a library that is released without close end`() async throws {
        try await withStage { stage in
            var library: LibraryAPI? = try await stage.another()
            let streams = [library?.events(), library?.events()].compactMap(\.self)
            _ = try await library?.cover(at: stage.url(1))
            library = nil
            for stream in streams {
                var count = 0
                for await event in stream {
                    if case .arrived = event { count += 1 }
                }
                #expect(count == 1, "what was published before is still received")
            }
        }
    }

    @Test func `a library released without close keeps what it has stored, and holds up no other`() async throws {
        try await withStage { stage in
            await stage.library.close()
            do {
                let library = try await stage.another()
                _ = try await library.cover(at: stage.url(1))
            }
            let next = try await stage.another { $0.isOffline = true }
            #expect(try next.cached(stage.url(1))?.bytes == CoverImage.jpeg(number: 1))
            await next.close()
        }
    }

    @Test func `reading cached covers starts no scheduler`() async throws {
        try await withStage { stage in
            let url = stage.url(1)
            _ = try await stage.library.cover(at: url)
            await stage.library.close()
            let library = try await stage.another()
            let cover = try #require(try library.cached(url))
            #expect(try await library.cover(at: url) == cover)
            #expect(try library.cached(stage.url(2)) == nil)
            #expect(try await library.prefetch([url]).summary().fresh == 1)
            #expect(library.covers.startedScheduler == nil)
            await library.close()
        }
    }

    #if os(Linux)
        @Test func `opening a library and reading from it starts one thread; releasing it ends all threads`() async {
            await #expect(processExitsWith: .success) {
                let mask = try await onWorkThread { try blockedSignals("/proc/thread-self") }
                try await withStage { stage in
                    await stage.library.close()
                    let first = try threadCount(mask)
                    do {
                        let library = try await stage.another()
                        #expect(try library.cached(stage.url(1)) == nil)
                        #expect(try threadCount(mask) == first + 1, "the disk thread")
                        _ = try await library.cover(at: stage.url(1))
                        #expect(try threadCount(mask) > first + 1)
                        // A run in progress does not keep the library alive.
                        var outcomes = library.prefetch([stage.url(2), stage.url(3, "hold=1")]).makeAsyncIterator()
                        #expect(try await outcomes.next()?.kind == .downloaded)
                    }
                    try await eventually { try threadCount(mask) == first }
                }
            }
        }

        @Test func `transfers end, and are stored and counted, while the cooperative pool is full`() async {
            await #expect(processExitsWith: .success) {
                let count = 100
                let image = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>"
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(image.utf8.count)\r\n\r\n"
                try await withListener(answer: head + image) { listener in
                    try await withStage { stage in
                        let outcomes = stage.library.prefetch((0..<count).map { "\(listener.url)/\($0)" })
                        let run = Task { try await outcomes.summary() }
                        // By then the whole list has been read, which needs the pool.
                        for await _ in listener.requests { break }
                        let pool = FullPool()
                        // A new thread, as the pool runs nothing else.
                        let downloaded = try await onWorkThread {
                            let end = ContinuousClock.now + .seconds(60)
                            while outcomes.progress.downloaded < count, .now < end { sched_yield() }
                            pool.release()
                            return outcomes.progress.downloaded
                        }
                        #expect(downloaded == count)
                        #expect(try await run.value.downloaded == count)
                    }
                }
            }
        }
    #endif
}

#if os(Linux)
    /// Keeps every thread of Swift's cooperative pool busy until it is released.
    private final class FullPool: Sendable {
        private let isReleased = Atomic(false)

        init() {
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount + 2 {
                Task.detached { [self] in
                    while !isReleased.load(ordering: .acquiring) {}
                }
            }
        }

        func release() { isReleased.store(true, ordering: .releasing) }
    }

    /// The signals that a thread blocks.
    private func blockedSignals(_ task: String) throws -> String? {
        try String(contentsOfFile: task + "/status", encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix("SigBlk:") }.map(String.init)
    }

    /// The number of threads that block exactly these signals: a `WorkThread` blocks all.
    private func threadCount(_ mask: String?) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            .count { (try? blockedSignals("/proc/self/task/" + $0)) == mask }
    }

    private func onWorkThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            WorkThread.start { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
#endif
