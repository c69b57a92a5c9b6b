import Foundation
import Logging
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// A cache beside whose library other processes work.
@Suite(.timeLimit(.minutes(10))) struct SharedCacheTests {
    @Test func `a cache that is removed under a library is made again, and that is said once`() async throws {
        let warnings = Warnings()
        try await withStage {
            $0.logger = Logger(label: "test") { _ in warnings }
        } _: { stage in
            let (library, cache) = (stage.library, stage.library.configuration.cacheDirectory)
            let bytes = try await library.cover(at: stage.url(1)).data
            try FileManager.default.removeItem(at: cache)
            #expect(try await library.cover(at: stage.url(1)).data == bytes)
            #expect(try library.cached(stage.url(1))?.data == bytes)
            let urls = (1...20).compactMap { URL(string: stage.url($0)) }
            let summary = try await library.prefetch(urls).summary()
            #expect(summary.downloaded == 19 && summary.failed == 0)
            try FileManager.default.removeItem(at: cache)
            #expect(try await library.prefetch(urls).summary().failed == 0)
            #expect(try await library.prefetch(urls).summary().fresh == 20)
            #expect(try await library.verify().defects.isEmpty)
            #expect(warnings.messages.withLock { $0.count { $0.contains("was replaced") } } == 2)
        }
    }

    @Test func `what only reads waits for no process that was stopped with the writer's lock`() async throws {
        try await withStage { stage in
            let bytes = try await stage.library.cover(at: stage.url(1)).data
            _ = try await stage.library.statistics()
            let lock = try FileLock(path: stage.library.configuration.cacheDirectory.path + "/writer.lock")
            #expect(try lock.tryLock())
            let library = try await stage.another()
            #expect(try library.cached(stage.url(1))?.data == bytes)
            #expect(try await library.cover(at: stage.url(1)).data == bytes)
            #expect(try await library.statistics().entries == 1)
            #expect(try await library.verify().covers == 1)
            #expect(try await library.evict(to: 0, dryRun: true).covers == 1)
            await library.close()
            lock.unlock()
        }
    }

    @Test func `uses are written without a further call`() async throws {
        try await withStage { stage in
            _ = try await stage.library.cover(at: stage.url(1))
            _ = try await stage.library.statistics()
            let (library, other) = (try await stage.another(), try await stage.another())
            let hits = try await other.statistics().hits
            _ = try library.cached(stage.url(1))
            try await eventually { try await other.statistics().hits > hits }
            await library.close()
            await other.close()
        }
    }
}
