import CoverCache

package import Platform

/// A cached cover as `sleeve list` shows it.
package struct CoverListing: Sendable, Hashable {
    package var url: String
    /// The SHA-256 of the bytes, in hexadecimal digits.
    package var digest: String
    /// The length in bytes.
    package var bytes: Int
    package var mediaType: String
    /// The size in pixels; nil if the image's header does not tell.
    package var width: Int?
    package var height: Int?
    /// Milliseconds since 1970, as are the other times.
    package var storedAt: Int64
    package var validatedAt: Int64
    /// Nil if the cover was stale on arrival.
    package var freshUntil: Int64?
    package var isPinned: Bool
    /// False if the image's bytes stop before its end. True if that is not known.
    package var isComplete: Bool

    /// Whether the cover is stale at `now`, in milliseconds since 1970.
    package func isStale(at now: Int64) -> Bool {
        !Staleness.isFresh(until: freshUntil, validatedAt: validatedAt, at: now)
    }
}

/// The result of checking every cover of a cache.
package struct CacheVerification: Sendable, Hashable {
    package var entries: Int
    /// The number of distinct covers.
    package var covers: Int
    package var bytes: Int
    /// A sentence for each damaged cover or entry.
    package var defects: [String]
    /// The URLs of covers whose images are incomplete: their bytes are those that the server sent, and stop before the image's end.
    package var incomplete: [String] = []
    /// Damaged covers that were dropped.
    package var dropped = 0
    /// Covers that the disk could not read, and that were kept.
    package var unreadable = 0
    /// Records without a body that were written again.
    package var rewritten = 0
    /// The number of entries in the rebuilt index; nil if it was not rebuilt.
    package var rebuiltEntries: Int?

    fileprivate init(_ found: VerifyReport) {
        (entries, covers, bytes) = (found.entries, found.blobs, found.bytes)
        defects = found.defects.map(\.description)
    }
}

/// Maintenance of the cache.
extension LibraryAPI {
    /// Whether a directory holds a cache.
    package static func hasCache(at directory: URL) -> Bool { CacheDirectory.exists(directory.relativePath) }

    /// Calls `body` with every cached cover, in the order of storing, on the caller's thread. A mirror's other responses are
    /// left out.
    /// - Throws: `LibraryError`, or the error of `body`.
    package func listCovers(_ body: (CoverListing) throws -> Void) throws {
        if covers.isClosed { throw LibraryError.closed }
        do {
            try covers.reader.entries { entry in
                guard entry.isCover else { return }
                let metadata = entry.metadata
                try body(
                    CoverListing(
                        url: metadata.key, digest: entry.digest.description, bytes: entry.bytes,
                        mediaType: metadata.mediaType, width: metadata.width, height: metadata.height,
                        storedAt: metadata.storedAt, validatedAt: entry.validatedAt, freshUntil: metadata.freshUntil,
                        isPinned: entry.isPinned,
                        isComplete: EntryAnnotation.isImageComplete(metadata.fields)))
            }
        } catch let error as CacheError {
            throw LibraryError(error)
        }
    }

    /// Hashes every cached cover and compares it with its digest.
    /// - Parameter progress: Called on the disk thread with the number of checked covers and the number of all covers.
    /// - Throws: `LibraryError`.
    package func verify(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void
    ) async throws -> CacheVerification {
        var verification = CacheVerification(try await maintain { try $0.verify(progress: progress) })
        verification.incomplete = try await incompleteCovers()
        return verification
    }

    private func incompleteCovers() async throws -> [String] {
        try await covers.read { reader in
            var urls: [String] = []
            try reader.entries { entry in
                if entry.isCover, !EntryAnnotation.isImageComplete(entry.metadata.fields) {
                    urls.append(entry.metadata.key)
                }
            }
            return urls
        }
    }

    /// Verifies the cache, drops damaged covers, and rebuilds the index from the segments if it is damaged itself.
    /// - Parameter progress: As in `verify(progress:)`.
    /// - Throws: `LibraryError`.
    package func repair(
        progress: @escaping @Sendable (_ checked: Int, _ all: Int) -> Void
    ) async throws -> CacheVerification {
        do {
            let report = try await covers.persistency.repair(progress: progress)
            var verification = CacheVerification(report.found)
            (verification.dropped, verification.unreadable) = (report.dropped, report.unreadable)
            (verification.rewritten, verification.rebuiltEntries) = (report.rewritten, report.rebuiltEntries)
            verification.incomplete = try await incompleteCovers()
            return verification
        } catch {
            throw LibraryError(error)
        }
    }
}
