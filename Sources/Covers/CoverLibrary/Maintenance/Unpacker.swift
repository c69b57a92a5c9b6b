import CoverCache
import CoverFetch
import CoverPack
import CurlHTTP

/// Stores the covers of a pack in the cache, a group at a time, and pins those that were pinned.
struct Unpacker {
    /// Bytes that are read and stored together. Each group costs two syncs; two are in memory.
    private static let groupLength = 16 << 20

    let covers: CoverPipeline
    let isDryRun: Bool
    let onFailure: @Sendable (CoverFailure) -> Void
    let progress: @Sendable (UnpackSummary) -> Void

    /// - Throws: `CacheError` if the pack cannot be read, or the cache not written.
    func unpack(_ pack: PackReader) async throws -> UnpackSummary {
        var summary = UnpackSummary()
        // Another version may normalise URLs less.
        let pinned = Set(pack.pinned.compactMap { try? HTTPURL($0).string })
        var items = try await next(of: pack)
        while !items.isEmpty {
            if Task.isCancelled {
                summary.isCancelled = true
                return summary
            }
            // It is read and verified while the disk writes this one.
            async let following = next(of: pack)
            let stored = try await store(items.compactMap { check($0, &summary) }, &summary).filter(pinned.contains)
            if !isDryRun, !stored.isEmpty { _ = try await covers.persistency.withWriter { try $0.pin(stored) } }
            progress(summary)
            items = try await following
        }
        return summary
    }

    /// The next group of a pack; empty at its end.
    private func next(of pack: PackReader) async throws -> [PackReader.Item] {
        try await covers.read { _ in try pack.next(Self.groupLength) }
    }

    /// Returns nil, and reports why, if an item is no cover.
    private func check(_ item: PackReader.Item, _ summary: inout UnpackSummary) -> ImportedCover? {
        do throws(CoverFailure) {
            switch item {
            case .cover(let metadata, let digest, let body):
                return try CoverPipeline.checked(metadata, body, digest)
            case .damage(let defect):
                let detail = "\(defect.problem) (\(defect.location))"
                throw CoverFailure(.cache, url: defect.key ?? "", detail: detail)
            }
        } catch {
            fail(error, &summary)
            return nil
        }
    }

    /// - Returns: the keys of what the cache has now.
    private func store(
        _ packed: [ImportedCover], _ summary: inout UnpackSummary
    ) async throws -> [String] {
        var keys: [String] = []
        for (cover, outcome) in zip(packed, try await covers.store(packed, dryRun: isDryRun)) {
            switch outcome {
            case .kept: summary.kept += 1
            case .failed(let reason):
                fail(CoverFailure(.cache, url: cover.metadata.key, detail: reason), &summary)
                continue
            case .stored(_, let isDuplicate):
                summary.stored += 1
                summary.bytes += cover.body.count
                if isDuplicate { summary.deduplicated += 1 }
            }
            keys.append(cover.metadata.key)
        }
        return keys
    }

    private func fail(_ failure: CoverFailure, _ summary: inout UnpackSummary) {
        summary.failed += 1
        onFailure(failure)
    }
}
