package import CurlHTTP
package import HTTPTypes

/// A caller's request for a cover. Requests for one URL share a transfer.
package struct FetchRequest: Sendable {
    /// `DownloadScheduler.cancelRequests` cancels the requests of an owner.
    package var owner: ObjectIdentifier
    package var priority = FetchPriority.normal
    /// Probe the host if it was given up because it could not be reached.
    package var ignoresOutage = false
    /// The stored version to revalidate; nil to download the cover.
    package var stored: StoredVersion?
    /// Download the cover even if it is stored.
    package var reloads = false
    /// The URL's remembered permanent redirect, and until when it is, in milliseconds since 1970.
    package var redirect: (target: HTTPURL, until: Int64)?
    /// What is sent to the URL's own origin. A response to other fields than these answers the request only if it is a stored cover.
    package var headerFields: HTTPFields = [:]
    /// Connect to public addresses only. A transfer that it shares with a request that does not may connect to others.
    package var deniesPrivateAddresses = false
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    package var negativeTimeToLive: Int64?
    /// Whether the request still waits until its cover is in the tier. Nil if it does not: its outcome comes before.
    package var isPutAwaited: (@Sendable () -> Bool)?
    /// `PendingStores.mark` before the look-up that did not find the cover: what was stored since answers the request. Nil if it wants its
    /// server asked.
    package var mark: Int?
    /// When the scheduler took the request.
    var submitted: ContinuousClock.Instant?
    /// Called once, on any thread, after the commit that makes a success true. Must not block.
    package var completion: @Sendable (CoverOutcome) -> Void

    package init(owner: ObjectIdentifier, completion: @escaping @Sendable (CoverOutcome) -> Void) {
        self.owner = owner
        self.completion = completion
    }

    func cancel() { completion(CoverOutcome(failed: .cancelled(""))) }
}

extension [FetchRequest] {
    /// Completes the requests that shared a transfer. All but the first have joined it.
    func complete(_ outcome: CoverOutcome) {
        var outcome = outcome
        for request in self {
            request.completion(outcome)
            outcome.isJoined = true
            outcome.timings = nil
        }
    }
}
