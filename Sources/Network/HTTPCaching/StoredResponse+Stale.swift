extension StoredResponse {
    /// Whether the response may be used although it is not fresh, without asking its server first (RFC 9111 section 4.2.4; RFC 5861
    /// sections 3 and 4). Without a directive there is no limit.
    /// - Parameter now: milliseconds since 1970.
    package func mayBeStale(at now: Int64) -> Bool {
        let freshness = freshness, all = [freshness.directives, redirects.directives]
        // These forbid stale responses whatever else is sent (sections 5.2.2.2 and 5.2.2.4).
        if freshness.needsValidation || all.contains(where: \.mustRevalidate) { return false }
        guard let limit = all.compactMap(\.staleLimit).min() else { return true }
        return now - freshness.freshUntil <= limit * 1_000
    }
}
