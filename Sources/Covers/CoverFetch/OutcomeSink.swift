/// What gets the outcomes of asks: a run, a call for one cover, a wall of covers.
package protocol OutcomeSink: AnyObject, Sendable {
    /// Called once for each ask, on any thread, after the commit that makes a success true. Must not block.
    func take(_ outcome: CoverOutcome, of ask: Ask)

    /// False once nothing more is to be started for it.
    var isWanted: Bool { get }

    /// What the transfers of its asks inherit from the task that asked; nil for nothing.
    var origin: AskOrigin? { get }

    /// An address of an ask has failed. The ask may go on to others.
    func didFail(_ key: String, _ failure: CoverFailure)

    /// The failure of an address that is not tried again for this sink.
    func failure(of key: String) -> CoverFailure?
}

extension OutcomeSink {
    package var origin: AskOrigin? { nil }
    package func didFail(_ key: String, _ failure: CoverFailure) {}
    package func failure(of key: String) -> CoverFailure? { nil }
}
