import CoverCache
import CoverFetch

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
