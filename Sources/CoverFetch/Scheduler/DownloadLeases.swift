/// The right to download a URL, which one process at a time has. Backed by what the processes share: the cache.
package protocol DownloadLeases: Sendable {
    /// Takes the lease of a key. Does not block. - Returns: the lease, for `release`; nil while another process holds it.
    func take(_ key: String) -> Int?

    /// Ends a lease. Does not block.
    func release(_ lease: Int)

    /// Whether another process has stored covers, so that one that was missing may be stored by now. Does not block.
    var hasForeignCommits: Bool { get }

    /// The stored cover of each key; nil for those missing.
    func stored(_ keys: [String]) async -> [StoredCover?]
}
