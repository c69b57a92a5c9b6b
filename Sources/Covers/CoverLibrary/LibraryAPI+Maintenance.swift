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

    /// Hashes every cached cover and compares it with its digest.
    /// - Parameter progress: Called on the disk thread with the number of checked covers and the number of all covers.
    /// - Throws: `LibraryError` if the index cannot be read.
    public func verify(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(LibraryError) -> CacheVerification {
        try await maintain { try $0.verify(progress: progress) }
    }

    /// Verifies the cache, drops damaged covers, and rebuilds the index if it is damaged itself.
    /// - Parameter progress: As in `verify(progress:)`.
    /// - Throws: `LibraryError` if the cache cannot be mended.
    public func repair(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(LibraryError) -> CacheVerification {
        let verification = try await maintain { try $0.repair(progress: progress) }
        // An index that was rebuilt is not one that another process has replaced.
        covers.reader.reopen()
        return verification
    }
}
