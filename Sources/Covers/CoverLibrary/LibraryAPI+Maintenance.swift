public import CoverCache
package import Platform

/// Maintenance of the cache.
extension LibraryAPI {
    /// Whether a directory holds a cache.
    package static func hasCache(at directory: URL) -> Bool { directory.filePath.map(CacheDirectory.exists) ?? false }

    /// Another one if the cache was removed and made again; 0 while it is missing.
    package var indexNumber: UInt64 { covers.reader.directory.indexNumber }

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
            let found = try await covers.readForLong { try $0.verify(isCancelled: $1, progress: progress) }
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
        covers.reader.reopen()
        return found.report
    }
}
