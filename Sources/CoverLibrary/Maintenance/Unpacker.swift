import CoverCache
import CoverFetch
import CurlHTTP
import ImageHeader
import Platform

/// Stores the covers of a pack in the cache, a group at a time.
struct Unpacker {
    /// Bytes that are read and stored together.
    private static let groupLength = 4 << 20

    let covers: CoverPipeline
    let isDryRun: Bool
    let onFailure: @Sendable (CoverFailure) -> Void
    let progress: @Sendable (UnpackSummary) -> Void

    private typealias PackedCover = (metadata: EntryMetadata, body: [UInt8])

    /// The outcome of one cover.
    private enum Outcome: Sendable {
        case kept
        case stored(Digest, isDuplicate: Bool)
        case failed(String)
    }

    /// - Parameter descriptor: stays the caller's to close.
    /// - Throws: `CacheError` if the pack cannot be read, or the cache not written.
    func unpack(_ descriptor: Int32, path: String) async throws -> UnpackSummary {
        let pack = try await covers.read { _ in try PackReader(descriptor: descriptor, path: path) }
        var summary = UnpackSummary()
        while true {
            if Task.isCancelled {
                summary.isCancelled = true
                return summary
            }
            let items = try await covers.read { _ in try pack.next(Self.groupLength) }
            if items.isEmpty { return summary }
            let packed = items.compactMap { check($0, &summary) }
            try await store(packed, &summary)
            progress(summary)
        }
    }

    /// Returns nil, and reports why, if an item is no cover: a pack may come from anywhere.
    private func check(_ item: PackReader.Item, _ summary: inout UnpackSummary) -> PackedCover? {
        switch item {
        case .damage(let defect):
            let detail = "\(defect.problem) (\(defect.location))"
            fail(CoverFailure(.cache, url: defect.key ?? "", detail: detail), &summary)
        case .cover(var metadata, let body):
            let key = metadata.key
            guard EntryKey.isCover(key), let url = try? HTTPURL(key) else {
                fail(CoverFailure(.badURL, url: key, detail: "its URL in the pack is not valid"), &summary)
                return nil
            }
            guard let header = body.withUnsafeBytes({ ImageHeader($0) }) else {
                fail(CoverFailure(.notAnImage, url: key, detail: "its bytes in the pack are no image"), &summary)
                return nil
            }
            // Another version may normalise URLs less.
            metadata.key = url.string
            (metadata.mediaType, metadata.width, metadata.height) = (header.mediaType, header.width, header.height)
            body.withUnsafeBytes { metadata.markIfIncomplete($0) }
            return (metadata, body)
        }
        return nil
    }

    private func store(_ packed: [PackedCover], _ summary: inout UnpackSummary) async throws {
        let (reader, isDryRun) = (covers.reader, isDryRun)
        let outcomes = try await covers.persistency.withWriter { writer in
            try Self.store(packed, writer, reader, isDryRun: isDryRun)
        }
        for (cover, outcome) in zip(packed, outcomes) {
            let key = cover.metadata.key
            switch outcome {
            case .kept: summary.kept += 1
            case .failed(let reason): fail(CoverFailure(.cache, url: key, detail: reason), &summary)
            case .stored(let digest, let isDuplicate):
                summary.stored += 1
                summary.bytes += cover.body.count
                if isDuplicate { summary.deduplicated += 1 }
                if isDryRun || !covers.hub.isObserved { continue }
                covers.hub.publish(.arrived(CoverOutcome(stored: key, digest, cover.body.count, isDuplicate)))
            }
        }
    }

    private static func store(
        _ packed: [PackedCover], _ writer: CacheWriter, _ reader: CacheReader, isDryRun: Bool
    ) throws -> [Outcome] {
        let now = WallClock.milliseconds()
        var outcomes = packed.map { _ in Outcome.kept }
        let wanted = try packed.indices.filter { index in
            let metadata = packed[index].metadata
            guard let entry = try reader.entry(for: metadata.key) else { return true }
            // A time ahead of now is one of a wrong clock, and older than any other.
            func known(_ time: Int64) -> Int64 { time > now ? .min : time }
            if known(entry.validatedAt) < known(metadata.validatedAt ?? metadata.storedAt) { return true }
            return try !writer.isIntact(entry.digest)
        }
        if isDryRun {
            for index in wanted {
                let digest = packed[index].body.withUnsafeBytes { Digest(of: $0) }
                outcomes[index] = .stored(digest, isDuplicate: false)
            }
            return outcomes
        }
        for (index, result) in zip(wanted, try writer.store(wanted.map { packed[$0] })) {
            outcomes[index] =
                switch result {
                case .success(.stored(let digest, let isDuplicate)):
                    .stored(digest, isDuplicate: isDuplicate)
                // `store` has put what was lost again.
                case .success(.noRoom), .success(.lost):
                    .failed("\(writer.noRoom(for: packed[index].body.count))")
                case .failure(let error): .failed("\(error)")
                }
        }
        return outcomes
    }

    private func fail(_ failure: CoverFailure, _ summary: inout UnpackSummary) {
        summary.failed += 1
        onFailure(failure)
    }
}
