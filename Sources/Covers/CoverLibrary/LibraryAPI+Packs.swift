import CoverCache
import CoverFetch
package import CoverPack
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
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
        let selected = try SelectedEntries(selection, covers)
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
            case .cover(let packed): return try Self.checked(packed)
            case .damage(let defect):
                let detail = "\(defect.problem) (\(defect.location))"
                throw CoverFailure(.cache, url: defect.key ?? "", detail: detail)
            }
        } catch {
            fail(error, &summary)
            return nil
        }
    }

    /// The cover as this cache would store it: another cache may be of any version, and anyone may have changed it.
    /// - Throws: `CoverFailure` if it is no cover.
    private static func checked(_ packed: ImportedCover) throws(CoverFailure) -> ImportedCover {
        let key = packed.metadata.key
        guard let url = try? HTTPURL(key) else {
            throw CoverFailure(.badURL, url: key, detail: "its URL in the pack is not valid")
        }
        guard let header = packed.body.withUnsafeBytes({ ImageHeader($0) }) else {
            throw CoverFailure(.notAnImage, url: key, detail: "its bytes in the pack are no image")
        }
        var metadata = packed.metadata.imported
        // Another version may normalise URLs less.
        metadata.key = url.string
        (metadata.mediaType, metadata.width, metadata.height) = (header.mediaType, header.width, header.height)
        return ImportedCover(metadata, packed.body, packed.digest)
    }

    /// Stores covers, and tells observers.
    /// - Returns: the keys of what the cache has now.
    private func store(_ packed: [ImportedCover], _ summary: inout UnpackSummary) async throws -> [String] {
        let (wanted, results) = try await covers.persistency.withWriter {
            [reader = covers.shelf.reader, isDryRun] writer in
            let wanted = try packed.filter { try Self.isWanted($0.metadata, writer, reader) }
            return (wanted, isDryRun ? wanted.map { _ in .success(false) } : try writer.store(wanted))
        }
        summary.kept += packed.count - wanted.count
        var failed: Set<String> = []
        for (cover, result) in zip(wanted, results) {
            let (key, count) = (cover.metadata.key, cover.body.count)
            switch result {
            case .success(let isDuplicate):
                summary.stored += 1
                summary.bytes += count
                if isDuplicate { summary.deduplicated += 1 }
                if isDryRun { continue }
                covers.hub.publish(.arrived(CoverOutcome(stored: key, cover.digest, count, isDuplicate)))
            case .failure(let error):
                failed.insert(key)
                fail(CoverFailure(.cache, url: key, detail: "\(error)"), &summary)
            }
        }
        return packed.map(\.metadata.key).filter { !failed.contains($0) }
    }

    /// Whether the cache lacks a cover. One that it has and that was validated at the same time or later stays.
    private static func isWanted(_ metadata: EntryMetadata, _ writer: CacheWriter, _ reader: CacheReader) throws -> Bool
    {
        guard let entry = try reader.entry(for: metadata.key) else { return true }
        return try WallClock.known(entry.validatedAt) < WallClock.known(metadata.validatedAt)
            || !writer.isIntact(entry.digest)
    }

    private func fail(_ failure: CoverFailure, _ summary: inout UnpackSummary) {
        summary.failed += 1
        onFailure(failure)
    }
}

extension EntryMetadata {
    /// The metadata without the fields that no cache needs, such as `Set-Cookie`: other programs, and other versions, write packs.
    var imported: EntryMetadata {
        var imported = self
        let response = StoredResponse(
            status: 200, fields: ResponseFields.cached(HTTPFields(fieldLines: fields)), requestTime: 0, responseTime: 0)
        imported.fields = response.keptFields + ((try? url())?.annotation ?? "")
        for annotation in EntryAnnotation.all(in: fields) {
            switch annotation {
            // A URL is kept if it leads to the same place, without credentials.
            case .requestURL: break
            case .failing, .validatorsPlace, .redirects, .omittedParameters, .headerFields:
                imported.fields += annotation.line
            }
        }
        return imported
    }
}
