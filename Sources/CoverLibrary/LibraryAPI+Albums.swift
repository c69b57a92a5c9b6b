import CoverCache
import CurlHTTP
import Platform

extension LibraryAPI {
    // MARK: The cache

    /// What the cache holds and how it has served, without waiting for what is on its way to the disk.
    /// - Throws: `LibraryError`.
    package func cacheTotals() async throws -> CacheStatistics {
        await flushUsage()
        let found = try await persistency.totals()
        var totals = CacheStatistics(entries: found.entries, chargedBytes: found.charged, capacity: found.capacity)
        (totals.hits, totals.misses) = (found.hits, found.misses)
        return totals
    }

    /// The file a cover lies in, and where in it; `nil` when it is not in the cache.
    /// - Throws: `CoverFailure`.
    package func place(of key: String) throws -> (file: String, offset: Int)? {
        do { return try reader.place(of: key) } catch {
            throw CoverFailure(.cache, url: key, detail: "\(CacheError(error))")
        }
    }

    /// What the cache has of a cover, its bytes apart.
    package struct CachedVersion: Sendable {
        package let digest: String
        /// The body's length.
        package let bytes: Int
        /// As `Cover.isStale`.
        package let isStale: Bool
    }

    /// Which covers are there, in the order of `keys` (`Album.coverKey`), `nil` for those missing.
    /// - Throws: `CoverFailure`.
    package func cachedVersions(of keys: [String]) throws -> [CachedVersion?] {
        let now = WallClock.milliseconds()
        do {
            return try reader.status(of: keys, counting: false).map { status in
                status.map {
                    CachedVersion(
                        digest: $0.digest.description, bytes: $0.bytes,
                        isStale: $0.freshUntil.map { $0 <= now } ?? true)
                }
            }
        } catch {
            throw CoverFailure(.cache, url: "", detail: "\(CacheError(error))")
        }
    }
}
