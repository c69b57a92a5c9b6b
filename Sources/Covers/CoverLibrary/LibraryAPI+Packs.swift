import CoverCache
import CoverFetch
package import CoverPack
import CurlHTTP
import Platform

/// Packs: covers with their metadata in one file, to carry to a machine that is offline.
extension LibraryAPI {
    /// Writes cached covers into one tar file, with what is needed to serve and revalidate them. The file appears when it is complete;
    /// only the covers' metadata is held in memory.
    /// - Parameters:
    ///   - output: a file is replaced if it exists. A selection other than `all` that has no cover leaves it as it is.
    ///   - onFailure: called for each cover that is not cached or is damaged. The others are packed.
    /// - Throws: `LibraryError` if the filter's host is not valid, the file cannot be written, or the cache not read.
    package func pack(
        _ selection: CoverSelection, to output: PackOutput,
        onFailure: @escaping @Sendable (CoverFailure) -> Void,
        progress: @escaping @Sendable (PackSummary) -> Void = { _ in }
    ) async throws(LibraryError) -> PackSummary {
        let selected = try covers.entries(of: selection)
        do {
            let summary = try await covers.shelf.readForLong { reader, isOver in
                var (selected, failed) = (selected, 0)
                func fail(_ failure: CoverFailure) {
                    failed += 1
                    onFailure(failure)
                }
                var writer = PackWriter(reader, progress: progress, isCancelled: isOver) { key in
                    let detail = "its bytes in the cache are damaged; repair the cache, which drops them"
                    fail(CoverFailure(.cache, url: key, detail: detail))
                }
                var summary = try writer.write(to: output, mayBeEmpty: selection == .all) {
                    guard let batch = try selected.next(from: reader) else { return nil }
                    for failure in batch.failures { fail(failure) }
                    return batch.entries
                }
                summary.failed = failed
                return summary
            }
            if summary.isCancelled, covers.isClosed { throw LibraryError.closed }
            return summary
        } catch let error as SystemError {
            throw LibraryError(error)
        } catch {
            throw LibraryError(error)
        }
    }

    /// Reads the beginning of a pack, on the caller's thread. - Parameter descriptor: a file or a pipe. It stays the caller's to close.
    /// - Throws: `LibraryError` if it cannot be read or is no pack.
    package static func pack(in descriptor: Int32, name: String) throws(LibraryError) -> PackReader {
        do { return try PackReader(descriptor: descriptor, path: name) } catch { throw LibraryError(error) }
    }

    /// Stores the covers of a pack, each verified against its digest. A cover that is cached already and was validated at the same time
    /// or later stays. What was pinned is pinned here, too. Damaged covers are skipped.
    /// - Parameters:
    ///   - isDryRun: Verify the pack, and store nothing.
    ///   - onFailure: called for each damaged cover, and for each cover that cannot be stored. The rest is stored.
    /// - Throws: `LibraryError` if the file cannot be read or is no pack, or the cache cannot be written.
    package func unpack(
        _ pack: PackReader, dryRun isDryRun: Bool = false, onFailure: @escaping @Sendable (CoverFailure) -> Void,
        progress: @escaping @Sendable (UnpackSummary) -> Void = { _ in }
    ) async throws(LibraryError) -> UnpackSummary {
        do {
            return try await Unpacker(covers: covers, isDryRun: isDryRun, onFailure: onFailure, progress: progress)
                .unpack(pack)
        } catch {
            throw LibraryError(error)
        }
    }
}

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
        try await covers.shelf.read { _ in try pack.next(Self.groupLength) }
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
