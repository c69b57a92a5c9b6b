/// A disposable fact learnt from earlier responses. It is not synced, and a rebuild of the index drops it.
package struct Hint: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The key is a URL that was answered with 404 or 410; the value is that status.
        case absent
        /// The key is an origin (`scheme://host[:port]`) that asked for a pause; the value is the time of that, in milliseconds since 1970.
        case closed
    }

    package var kind: Kind
    package var key: String
    package var value: String
    /// When the hint expires, in milliseconds since 1970.
    package var until: Int64

    package init(_ kind: Kind, _ key: String, _ value: String, until: Int64) {
        self.kind = kind
        self.key = key
        self.value = value
        self.until = until
    }
}

/// A change to the hints, for `CacheWriter.add(hints:now:)`.
package enum HintChange: Sendable, Hashable {
    /// Replaces the hint of the same kind and key.
    case set(Hint)
    case remove(Hint.Kind, key: String)
}
