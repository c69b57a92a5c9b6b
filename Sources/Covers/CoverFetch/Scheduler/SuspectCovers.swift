package import CurlHTTP

/// Covers whose responses came over a connection with an answer that nobody asked for (`UnaskedAnswer`), and that have an outcome: each may have
/// another's bytes, or another's failure.
package struct SuspectCovers: Sendable {
    package struct Suspect: Sendable {
        package var cover: RequestedCover
        /// How it ended last; nil if that is not remembered, as it was long ago, or it has not ended at all.
        package var outcome: CoverOutcome?
    }

    package var suspects: [Suspect] = []
    /// The number of those that have no outcome yet. They are requested again before they get one.
    package var pending = 0
    /// Host and port of the servers.
    package var hosts: [String]
    /// When the connection was opened, in milliseconds since 1970. What was stored before did not come over it.
    package var openedAt: Int64

    init(_ answer: UnaskedAnswer) {
        hosts = answer.origins.compactMap { try? HTTPURL($0).authority }
        openedAt = answer.openedAt
    }
}
