import HTTPTypes

/// A response as a cache keeps it: what it says of itself, and when it came. How old it is and how long it is fresh follows
/// from that (RFC 9111 §4.2).
struct StoredResponse: Sendable, Hashable {
    let status: Int
    let fields: HTTPFields
    /// When the request was sent, in milliseconds since 1970.
    let requestTime: Int64
    /// When the response came, in milliseconds since 1970.
    let responseTime: Int64
    let directives: CacheDirectives

    init(status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        directives = CacheDirectives(fields)
    }

    /// Fresh at most this long by the age of the last change alone (§4.2.2), in milliseconds.
    static let longestHeuristic: Int64 = 7 * 86_400_000
    /// The share of the time since the last change; §4.2.2 names it as typical.
    private static let heuristicShare: Int64 = 10

    /// Statuses that may be kept without the server saying for how long (RFC 9110 §15.1).
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Final statuses that RFC 9110 §15 defines.
    private static let understood = Set(200...206).union(300...308).union(400...417).union([421, 422, 426]).union(
        500...505)

    // MARK: Storing

    /// Whether a private cache may keep it at all (§3). - Parameter request: what the request said.
    func isStorable(request: CacheDirectives = CacheDirectives()) -> Bool {
        // Who knows the status obeys its rules rather than the `no-store` meant for others (§5.2.2.3).
        let isForbidden = directives.noStore && !(directives.mustUnderstand && Self.understood.contains(status))
        guard (200...599).contains(status), status != 206, status != 304, !isForbidden, !request.noStore else {
            return false
        }
        return directives.isPublic || directives.isPrivate || directives.maxAge != nil || fields.contains(.expires)
            || Self.heuristicallyCacheable.contains(status)
    }

    // MARK: Age

    /// When it was made (RFC 9110 §6.6.1): a response without a `Date` when it came. In milliseconds since 1970.
    var date: Int64 { Self.moment(fields[.date]) ?? responseTime }

    /// `Age` (§5.1), in seconds: the first that is sent; one that is no number counts as none.
    private var sentAge: Int64 {
        let first = fields[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first ?? ""
        return CacheDirectives.seconds(Self.trimmed(first)) ?? 0
    }

    /// How old it was when it came (§4.2.3), in milliseconds.
    var initialAge: Int64 {
        let apparent = max(0, responseTime - date)
        return max(apparent, sentAge * 1_000 + max(0, responseTime - requestTime))
    }

    /// How old it is (§4.2.3), in milliseconds.
    func age(at now: Int64) -> Int64 { initialAge + max(0, now - responseTime) }

    // MARK: Freshness

    /// For how long it is fresh from when it was made (§4.2.1), in milliseconds.
    var lifetime: Int64 {
        if let maxAge = directives.maxAge { return maxAge * 1_000 }
        if fields.contains(.expires) {
            // An invalid date, such as 0, means already expired (§5.3); so do several that differ.
            return max(0, (Self.moment(fields[.expires]) ?? date) - date)
        }
        guard directives.isPublic || Self.heuristicallyCacheable.contains(status),
            let modified = Self.moment(fields[.lastModified])
        else { return 0 }
        return min(max(0, date - modified) / Self.heuristicShare, Self.longestHeuristic)
    }

    /// When it stops being fresh, in milliseconds since 1970. `no-cache` makes it stale from the beginning (§5.2.2.4).
    var freshUntil: Int64 { directives.noCache ? responseTime : responseTime - initialAge + lifetime }

    private static func moment(_ text: String?) -> Int64? {
        text.flatMap { HTTPDate.seconds($0) }.map { $0 * 1_000 }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
