/// Which cached covers a refresh checks, and how much it may spend.
public struct RefreshRequest: Sendable, Hashable {
    /// Which covers are due. Further cases may be added.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Scope: Sendable, Hashable {
        /// Those that are no longer fresh (RFC 9111 §4.2).
        case stale
        /// Those that were not validated for this long.
        case olderThan(Duration)
        /// All.
        case all
    }

    /// Fresh `immutable` covers (RFC 8246 §2) are never due.
    public var scope = Scope.stale
    /// Only these covers, as far as they are due.
    public var selection = CoverSelection.all
    /// What is sent for covers that were got with header fields of their requests or of the configuration: to the origin of each one's URL, and to
    /// no other. Covers that need more than these and the configuration's are left out. The requests of a selection have their own.
    public var headerFields: RequestHeaderFields = [:]
    /// Maximum number of requests. Covers that most likely changed, or were used last, come first.
    public var maximumRequests: Int?
    /// No request starts after bodies of this length, in bytes.
    public var maximumBytes: Int?
    /// Maximum duration.
    public var maximumTime: Duration?

    /// A refresh of what is stale, without a limit.
    public init() {}
}
