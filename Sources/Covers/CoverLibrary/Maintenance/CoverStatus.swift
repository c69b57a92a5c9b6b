import CoverCache
public import Platform

/// That a cover is cached, and as what.
public struct CoverStatus: Sendable, Hashable, Codable {
    /// SHA-256 of the bytes, in hexadecimal.
    public var digest: String
    /// As `Cover.isStale`.
    public var isStale: Bool
    /// Nil if the cover was stale on arrival.
    public var freshUntil: Date?
    /// The dominant colour, as `#rrggbb`, for what is shown before the cover; nil before a size of the cover was made.
    public var color: String?

    /// A status made by the caller, for previews and tests.
    public init(digest: String, isStale: Bool = false, freshUntil: Date? = nil, color: String? = nil) {
        (self.digest, self.isStale, self.freshUntil, self.color) = (digest, isStale, freshUntil, color)
    }

    /// - Parameter now: milliseconds since 1970.
    init(_ status: CacheReader.Status, at now: Int64) {
        self.init(
            digest: status.digest.description,
            isStale: !Staleness.isFresh(until: status.freshUntil, validatedAt: status.validatedAt, at: now),
            freshUntil: status.freshUntil.map { Date(milliseconds: $0) },
            color: status.color.map { "#\(String($0 & 0xFF_FFFF | 1 << 24, radix: 16).dropFirst())" })
    }
}
