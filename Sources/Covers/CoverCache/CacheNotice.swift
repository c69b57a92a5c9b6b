package import Platform

/// What a cache has found or done by itself, and a person should know.
package enum CacheNotice: Sendable, Hashable, CustomStringConvertible {
    case rebuilding
    /// Another process has replaced or removed the index.
    case replaced
    /// - Parameter capacity: in bytes.
    case evicted(covers: Int, capacity: Int)
    /// Covers have no entry any more, and their files are gone: evicted, removed or damaged.
    case removed([Digest])
    /// Housekeeping could not do its work, which costs room. A later opening tries again.
    case unfinished(CacheError)

    package var description: String {
        switch self {
        case .rebuilding: "the cache's index is lost or damaged: rebuilding it from entries.jsonl and the covers"
        case .replaced: "the cache's index was replaced or removed by another process; reading the new one"
        case .evicted(let covers, let capacity):
            "\(covers) covers were evicted: the cache exceeded its capacity of \(ByteCount(capacity))"
        case .removed(let digests): "\(digests.count) covers were removed"
        case .unfinished(let error): "the cache could not be tidied up: \(error)"
        }
    }
}
