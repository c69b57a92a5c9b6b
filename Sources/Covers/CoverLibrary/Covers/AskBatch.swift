import CoverCache
import CoverFetch
import CurlHTTP

/// Asks that were looked up in the cache together.
struct AskBatch: Sendable {
    /// An ask, or why an element of a list is none.
    typealias Element = Result<Ask, CoverFailure>

    /// Why requests without a usable URL have none.
    var unusable: [CoverFailure] = []
    var asks: [Ask] = []
    /// The outcome of each ask that needs no request.
    var answers: [CoverOutcome?] = []
    /// Why the cache could not be read. There are no `answers` then.
    var error: CacheError?

    /// The number of requests.
    var count: Int { asks.count + unusable.count }
}

/// The hints of the cache for a URL without a cover.
struct Hints: Sendable {
    /// The server answered 404 or 410.
    var absence: Absence?
    /// Its permanent redirect, as in `Ask`.
    var redirect: (target: HTTPURL, until: Int64)?
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    var negativeTimeToLive: Int64?
}
