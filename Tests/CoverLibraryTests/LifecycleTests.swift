import CoverFetch
import Foundation
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// What a library starts, and what it leaves behind.
@Suite(.timeLimit(.minutes(10))) struct LifecycleTests {
    @Test(
        "after close every call throws, whether or not anything was downloaded", arguments: [true, false])
    func closed(hasDownloaded: Bool) async throws {
        try await withStage { stage in
            let (library, url) = (stage.library, stage.url(1))
            if hasDownloaded { _ = try await library.cover(at: url) }
            let requests = stage.origin.requestCount
            await library.close()
            await library.close()
            #expect(await library.failure(url)?.kind == .cancelled)
            #expect(throws: CoverFailure.self) { try library.cached(url) }
            await #expect(throws: LibraryError.closed) { try await library.prefetch([url]).summary() }
            await #expect(throws: LibraryError.closed) { try await library.refresh().summary() }
            await #expect(throws: LibraryError.self) { try await library.statistics() }
            await #expect(throws: LibraryError.self) { try await library.evict(to: 0) }
            await #expect(throws: LibraryError.self) { try await library.albums.all() }
            await #expect(throws: LibraryError.self) { try await library.albums.add(Album(title: "A")) }
            for await event in library.events() { Issue.record("\(event)") }
            #expect(stage.origin.requestCount == requests)
        }
    }

    @Test("after close edits are not sent, and the next library sends them")
    func closedOutbox() async throws {
        let remote = try await Origin.start()
        try await withStage {
            $0.remote = URL(string: remote.url)
        } _: { stage in
            try await stage.library.albums.add(Album(title: "A"))
            await stage.library.close()
            await #expect(throws: LibraryError.closed) { try await stage.library.albums.sendEdits() }
            #expect(remote.requestCount == 0)
            let next = try await stage.another { $0.remote = URL(string: remote.url) }
            let outbox = try await next.albums.sendEdits()
            #expect(outbox.sent == 1 && outbox.problem == nil)
            await next.close()
        }
        await remote.stop()
    }

    @Test("a library released without close releases its segment's lock")
    func releasedLock() async throws {
        try await withStage { stage in
            await stage.library.close()
            do {
                let library = try await stage.another()
                _ = try await library.cover(at: stage.url(1))
                let isFree = try FileLock(path: stage.segment).tryLock()
                #expect(!isFree, "the library writes to the segment")
                withExtendedLifetime(library) {}
            }
            try await eventually { try FileLock(path: stage.segment).tryLock() }
            let next = try await stage.another { $0.isOffline = true }
            #expect(try next.cached(stage.url(1))?.bytes == CoverImage.jpeg(number: 1))
            await next.close()
        }
    }

    @Test("reading cached covers starts no scheduler")
    func cached() async throws {
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
        @Test("opening a library and reading from it starts one thread; releasing it ends all threads")
        func threads() async {
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
                        let outcomes = library.prefetch([stage.url(2), stage.url(3, "hold=1")]).makeAsyncIterator()
                        #expect(try await outcomes.next()?.kind == .downloaded)
                    }
                    try await eventually { try threadCount(mask) == first }
                }
            }
        }
    #endif
}

#if os(Linux)
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
