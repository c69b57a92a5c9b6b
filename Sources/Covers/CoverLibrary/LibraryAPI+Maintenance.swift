public import CoverCache
public import CoverFetch
import CurlHTTP
package import Platform

/// Maintenance of the cache.
extension LibraryAPI {
    /// Whether a directory holds a cache.
    package static func hasCache(at directory: URL) -> Bool { directory.filePath.map(CacheDirectory.exists) ?? false }

    /// Another one if the cache was removed and made again; 0 while it is missing.
    package var indexNumber: UInt64 { covers.shelf.reader.directory.indexNumber }

    /// The cached covers of a selection whose files are there, without their bytes. Those that a filter matches are in the order in which
    /// their bytes were first stored; a request whose cover is not cached has none.
    public func listings(_ selection: CoverSelection = .all) -> CoverListings {
        CoverListings(pipeline: covers, selection: selection)
    }

    /// Hashes every cached cover and compares it with its digest, on a thread of its own: covers are stored and read meanwhile. Cancelling the
    /// task ends it (`CacheVerification.isCancelled`).
    /// - Parameter progress: Called on that thread with the number of checked covers and the number of all covers.
    /// - Throws: `LibraryError` if the index cannot be read, or the library is closed.
    public func verify(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(LibraryError) -> CacheVerification {
        try await findings(progress).report
    }

    private func findings(
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws(LibraryError) -> VerificationFindings {
        do {
            let found = try await covers.shelf.readForLong { try $0.verify(isCancelled: $1, progress: progress) }
            if found.report.isCancelled, covers.isClosed { throw LibraryError.closed }
            return found
        } catch {
            throw LibraryError(error)
        }
    }

    /// Verifies the cache, drops damaged covers, and rebuilds the index if it is damaged itself. Cancelling the task ends it; what is dropped by
    /// then stays dropped.
    /// - Parameter progress: As in `verify(progress:)`.
    /// - Throws: `LibraryError` if the cache cannot be mended.
    public func repair(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(LibraryError) -> CacheVerification {
        var found = try await findings(progress)
        while !found.isMended, !found.report.isCancelled {
            if Task.isCancelled {
                found.report.isCancelled = true
                break
            }
            found = try await maintain { [found] writer in
                var found = found
                try writer.mend(&found)
                return found
            }
        }
        // An index that was rebuilt is not one that another process has replaced.
        covers.shelf.reader.reopen()
        return found.report
    }
}

/// Pinning and removing cached covers.
extension LibraryAPI {
    /// Pins cached covers: they are never evicted. A pin belongs to the URL. It stays when the cover is refreshed or downloaded again,
    /// and when the index is rebuilt.
    /// - Parameters:
    ///   - selection: the covers.
    ///   - onFailure: called for each request whose cover is not cached (`notCached`) or whose URL cannot be used. The others are pinned.
    /// - Throws: `LibraryError` if the filter's host is not valid, or the pins cannot be written.
    @discardableResult
    public func pin(
        _ selection: CoverSelection, onFailure: @Sendable (CoverFailure) -> Void = { _ in }
    ) async throws(LibraryError) -> PinSummary {
        try await changingPins(selection, onFailure) { try $0.pin($1) }
    }

    /// Unpins covers. They may be evicted again.
    /// - Parameters:
    ///   - selection: the covers. `all` unpins every URL, whether its cover is cached or not.
    ///   - onFailure: called for each request whose cover is neither pinned nor cached, or whose URL cannot be used.
    /// - Throws: `LibraryError` if the filter's host is not valid, or the pins cannot be written.
    @discardableResult
    public func unpin(
        _ selection: CoverSelection, onFailure: @Sendable (CoverFailure) -> Void = { _ in }
    ) async throws(LibraryError) -> PinSummary {
        if selection == .all {
            let changed = try await maintain { try $0.unpinAll() }
            return PinSummary(covers: changed, changed: changed)
        }
        switch selection.covers {
        case .requests(let requests): return try await unpin(requests, onFailure)
        case .matching(var filter):
            filter.isPinned = true
            return try await changingPins(.matching(filter), onFailure) { try $0.unpin($1) }
        }
    }

    /// Removes covers from the cache. Bytes that other URLs share stay.
    /// - Parameters:
    ///   - selection: the covers.
    ///   - includesPinned: Remove pinned covers as well, and their pins. Otherwise they stay and are counted.
    ///   - isDryRun: Count, and change nothing.
    ///   - onFailure: called for each request whose cover is not cached (`notCached`) or whose URL cannot be used.
    /// - Throws: `LibraryError` if the filter's host is not valid, or the index cannot be written.
    @discardableResult
    public func remove(
        _ selection: CoverSelection, includingPinned includesPinned: Bool = false, dryRun isDryRun: Bool = false,
        onFailure: @Sendable (CoverFailure) -> Void = { _ in }
    ) async throws(LibraryError) -> RemovalSummary {
        var summary = RemovalSummary()
        summary.failed = try await forEachBatch(selection, onFailure) { keys in
            let removal = try await covers.persistency.withWriter {
                try $0.remove(keys, includingPinned: includesPinned, dryRun: isDryRun)
            }
            summary.entries += removal.entries
            summary.bytes += removal.bytes
            summary.pinned += removal.pinned
        }
        return summary
    }

    private func changingPins(
        _ selection: CoverSelection, _ onFailure: @Sendable (CoverFailure) -> Void,
        _ change: @escaping @Sendable (CacheWriter, [String]) throws -> [Bool]
    ) async throws(LibraryError) -> PinSummary {
        var summary = PinSummary()
        summary.failed = try await forEachBatch(selection, onFailure) { keys in
            summary.covers += keys.count
            summary.changed += try await covers.persistency.withWriter { try change($0, keys).count(where: \.self) }
        }
        return summary
    }

    /// Calls `body` with the keys of a selection, a batch at a time.
    /// - Returns: how many requests have no cover that is cached, or cannot be used.
    private func forEachBatch(
        _ selection: CoverSelection, _ onFailure: @Sendable (CoverFailure) -> Void,
        _ body: ([String]) async throws -> Void
    ) async throws(LibraryError) -> Int {
        var (selected, failed) = (try SelectedEntries(selection, covers), 0)
        do {
            while let batch = try await selected.next() {
                for failure in batch.failures { onFailure(failure) }
                failed += batch.failures.count
                try await body(batch.entries.map(\.metadata.key))
            }
        } catch {
            throw LibraryError(error)
        }
        return failed
    }

    /// Unpins keys that need not have an entry: its cover may have been damaged and dropped.
    private func unpin(
        _ requests: [CoverRequest], _ onFailure: @Sendable (CoverFailure) -> Void
    ) async throws(LibraryError) -> PinSummary {
        if covers.isClosed { throw .closed }
        var (summary, keys) = (PinSummary(), [String]())
        func fail(_ failure: CoverFailure) {
            summary.failed += 1
            onFailure(failure)
        }
        do {
            for request in requests {
                do throws(CoverFailure) {
                    keys = try covers.keys(of: request)
                } catch {
                    fail(error)
                    continue
                }
                let changed = try await covers.persistency.withWriter { [keys] in try $0.unpin(keys) }
                    .count(where: \.self)
                if changed == 0,
                    try await statuses(of: keys.map { CoverRequest(location: $0) }).allSatisfy({ $0 == nil })
                {
                    fail(.notCached(request))
                    continue
                }
                summary.covers += 1
                summary.changed += changed
            }
        } catch {
            throw LibraryError(error)
        }
        return summary
    }
}

/// The result of `LibraryAPI.pin(_:onFailure:)` or `unpin(_:onFailure:)`.
public struct PinSummary: Sendable, Hashable {
    /// Covers of the selection.
    public var covers = 0
    /// How many changed: newly pinned, or no longer pinned.
    public var changed = 0
    /// Covers that are not cached, and URLs that cannot be used.
    public var failed = 0
}
