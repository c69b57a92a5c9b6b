package import HTTPTypes

/// A response as a cache keeps it: what it says of itself, and when it came. How old it is and how long it is fresh follows
/// from that (RFC 9111 §4.2).
package struct StoredResponse: Sendable, Hashable {
    package let status: Int
    package let fields: HTTPFields
    /// When the request was sent, in milliseconds since 1970.
    package let requestTime: Int64
    /// When the response came, in milliseconds since 1970.
    package let responseTime: Int64

    package init(status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// Read anew each time: most responses are looked into once at most.
    package var directives: CacheDirectives { CacheDirectives(fields) }

    /// Statuses that may be kept without the server saying for how long (RFC 9110 §15.1).
    package static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Final statuses that RFC 9110 §15 defines.
    private static let understood = Set(200...206).union(300...308).union(400...417).union([421, 422, 426]).union(
        500...505)

    // MARK: Storing

    /// Whether a private cache may keep it at all (§3). - Parameter request: what the request said.
    package func isStorable(request: CacheDirectives = CacheDirectives()) -> Bool {
        let directives = directives
        // Who knows the status obeys its rules rather than the `no-store` meant for others (§5.2.2.3).
        let isForbidden = directives.noStore && !(directives.mustUnderstand && Self.understood.contains(status))
        guard (200...599).contains(status), status != 206, status != 304, !isForbidden, !request.noStore else {
            return false
        }
        return directives.isPublic || directives.isPrivate || directives.maxAge != nil || fields.contains(.expires)
            || Self.heuristicallyCacheable.contains(status)
    }

    // MARK: Time

    /// What it says of its age and of how long it is fresh; read anew each time.
    package var freshness: Freshness { Freshness(self) }

    /// When it was made, in milliseconds since 1970.
    package var date: Int64 { freshness.date }
    /// How old it was when it came (§4.2.3), in milliseconds.
    package var initialAge: Int64 { freshness.initialAge }
    /// How old it is (§4.2.3), in milliseconds.
    package func age(at now: Int64) -> Int64 { freshness.age(at: now) }
    /// For how long it is fresh from when it was made (§4.2.1), in milliseconds.
    package var lifetime: Int64 { freshness.lifetime }
    /// When it stops being fresh, in milliseconds since 1970.
    package var freshUntil: Int64 { freshness.freshUntil }
    /// `freshUntil`; nil where it is not known.
    package var knownFreshUntil: Int64? { freshness.knownFreshUntil }
}
