import CoverCache
import CoverFetch
import Dispatch
import Platform

/// The cache's leases, and its covers, as the scheduler needs them.
struct CacheLeases: DownloadLeases {
    let table: LeaseTable
    let reader: CacheReader
    let readers: DispatchQueue

    func take(_ key: String) -> Int? { table.take(key) }

    func release(_ lease: Int) { table.release(lease) }

    var hasForeignCommits: Bool { table.hasForeignCommits }

    /// If the index cannot be read, the covers count as missing: storing them will report the error.
    func stored(_ keys: [String]) async -> [CoverOutcome?] {
        let statuses = try? await reader.read(on: readers) { try $0.status(of: keys, counting: false) }
        guard let statuses else { return keys.map { _ in nil } }
        return zip(keys, statuses).map { key, status in status.map { CoverOutcome(cached: $0, at: key) } }
    }
}

extension CoverOutcome {
    /// Of a cover that needs no transfer. - Parameter location: as the outcome names it.
    init(cached status: CacheReader.Status, at location: String) {
        self.init(.fresh, url: location)
        (contentDigest, bytes) = (status.digest, status.bytes)
    }
}

extension CacheReader {
    /// Runs `body` on a thread of `queue`: reads block, and must not do so on the cooperative pool.
    func read<Result: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable (CacheReader) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body(self) }) }
        }
    }
}
