/// The cached covers that a call lists, refreshes, pins, removes or packs. Further cases may be added.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CoverSelection: Sendable, Hashable {
    /// The covers of these requests. Of an album, all its URLs that are cached.
    case requests([CoverRequest])
    /// All cached covers that a filter matches.
    case matching(CoverFilter)

    /// All cached covers.
    public static var all: CoverSelection { .matching(CoverFilter()) }
}

/// Selects cached covers by their URLs. Without a condition it matches all.
public struct CoverFilter: Sendable, Hashable {
    /// Only URLs of this host, such as `covers.example.org`, or `127.0.0.1:8731` for one port.
    public var host: String?
    /// Only URLs that match: `*` stands for any text, `?` for any character.
    public var pattern: String?
    /// Only pinned covers.
    public var isPinned: Bool

    /// A filter of these conditions.
    public init(host: String? = nil, pattern: String? = nil, isPinned: Bool = false) {
        self.host = host
        self.pattern = pattern
        self.isPinned = isPinned
    }
}
