package import CurlHTTP

/// What gets the outcomes of asks: a run, a call for one cover, a wall of covers.
package protocol OutcomeSink: AnyObject, Sendable {
    /// Called once for each ask, on any thread, after the commit that makes a success true. Must not block.
    func take(_ outcome: CoverOutcome, of ask: Ask)

    /// False once nothing more is to be started for it.
    var isWanted: Bool { get }

    /// What the transfers of its asks inherit from the task that asked; nil for nothing.
    var origin: AskOrigin? { get }

    /// An address of an ask has failed. The ask may go on to others.
    func didFail(_ url: HTTPURL, _ failure: CoverFailure)

    /// The failure of an address that is not tried again for this sink.
    func failure(of url: HTTPURL) -> CoverFailure?

    /// Whether another address with the same key has failed: what the cache remembers of the key may be of that one.
    func hasFailedElsewhere(_ url: HTTPURL) -> Bool
}

extension OutcomeSink {
    package var origin: AskOrigin? { nil }
    package func didFail(_ url: HTTPURL, _ failure: CoverFailure) {}
    package func failure(of url: HTTPURL) -> CoverFailure? { nil }
    package func hasFailedElsewhere(_ url: HTTPURL) -> Bool { false }
}
