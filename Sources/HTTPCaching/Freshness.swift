import HTTPTypes

/// How old a response is and how long it is fresh (RFC 9111 §4.2), from what it says of itself: fields are taken one after the
/// other, from wherever they are. Times in milliseconds since 1970, spans in milliseconds.
package struct Freshness {
    package let status: Int
    package let requestTime: Int64
    package let responseTime: Int64
    package private(set) var directives = CacheDirectives()
    private var sentDate: Int64?
    private var sentAge: Int64?
    private var hasExpires = false
    private var expires: Int64?
    private var lastModified: Int64?
    /// Whether it answers no request but the one it came for (§4.1).
    package private(set) var variesWithEverything = false

    package init(status: Int, requestTime: Int64, responseTime: Int64) {
        self.status = status
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// Fresh at most this long by the age of the last change alone (§4.2.2).
    package static let longestHeuristic: Int64 = 7 * 86_400_000
    /// The share of the time since the last change; §4.2.2 names it as typical.
    private static let heuristicShare: Int64 = 10

    // MARK: Taking fields

    /// `Cache-Control`; each line of it, in order.
    package mutating func take(cacheControl: Bytes) { directives.read(cacheControl) }
    /// `Vary`; each line of it.
    package mutating func take(vary: Bytes) {
        if vary.contains(UInt8(ascii: "*")), Variance.names([vary.string]).contains("*") { variesWithEverything = true }
    }
    /// `Age` (§5.1): the first that is sent; one that is no number counts as none.
    package mutating func take(age: Bytes) {
        var list = age
        let first = list.take(before: UInt8(ascii: ","))
        sentAge = sentAge ?? CacheDirectives.seconds(first.trimmed) ?? 0
    }
    /// `Date`, the lines joined, as those below.
    package mutating func take(date: Bytes) { sentDate = Self.moment(date) }
    /// `Expires`. An invalid date, such as 0, means already expired (§5.3); so do several that differ.
    package mutating func take(expires text: Bytes) {
        hasExpires = true
        expires = Self.moment(text)
    }
    /// `Last-Modified`.
    package mutating func take(lastModified text: Bytes) { lastModified = Self.moment(text) }

    private static func moment(_ text: Bytes) -> Int64? { HTTPDate.seconds(text).map { $0 * 1_000 } }

    // MARK: What follows

    /// When it was made (RFC 9110 §6.6.1): a response without a `Date` when it came.
    package var date: Int64 { sentDate ?? responseTime }

    /// How old it was when it came (§4.2.3).
    package var initialAge: Int64 {
        let apparent = max(0, responseTime - date)
        return max(apparent, (sentAge ?? 0) * 1_000 + max(0, responseTime - requestTime))
    }

    /// How old it is (§4.2.3).
    package func age(at now: Int64) -> Int64 { initialAge + max(0, now - responseTime) }

    /// For how long it is fresh from when it was made (§4.2.1).
    package var lifetime: Int64 {
        if let maxAge = directives.maxAge { return maxAge * 1_000 }
        if hasExpires { return max(0, (expires ?? date) - date) }
        guard directives.isPublic || StoredResponse.heuristicallyCacheable.contains(status), let lastModified
        else { return 0 }
        return min(max(0, date - lastModified) / Self.heuristicShare, Self.longestHeuristic)
    }

    /// When it stops being fresh. `no-cache` makes it stale from the beginning (§5.2.2.4).
    package var freshUntil: Int64 { directives.noCache ? responseTime : responseTime - initialAge + lifetime }

    /// `freshUntil`; nil where the response says nothing of it and nothing can be guessed. One that varies with everything
    /// (§4.1) is never fresh.
    package var knownFreshUntil: Int64? {
        if variesWithEverything { return responseTime }
        let isKnown = directives.maxAge != nil || directives.noCache || hasExpires || lifetime > 0
        return isKnown ? freshUntil : nil
    }
}

extension Freshness {
    package init(_ response: StoredResponse) {
        self.init(
            status: response.status, requestTime: response.requestTime, responseTime: response.responseTime)
        let fields = response.fields
        for field in fields {
            switch field.name {
            case .cacheControl: field.value.withBytes { take(cacheControl: $0) }
            case .vary: field.value.withBytes { take(vary: $0) }
            case .age: field.value.withBytes { take(age: $0) }
            // Of those that may be sent once only, all count where there are several: together they are no date.
            case .date: fields[.date]?.withBytes { take(date: $0) }
            case .expires: fields[.expires]?.withBytes { take(expires: $0) }
            case .lastModified: fields[.lastModified]?.withBytes { take(lastModified: $0) }
            default: break
            }
        }
    }
}
