package import CurlHTTP

/// Where the time of a cover went, from its request to the commit, in microseconds. The stages follow each other without a gap.
package struct CoverTimings: Sendable, Hashable {
    /// Waiting for its turn, for a connection, and between attempts. Attempts that failed are in it.
    package var queue: Int
    /// Name resolution. This and the following stages of the transfer are summed over redirects.
    package var name: Int
    /// TCP handshake.
    package var connect: Int
    /// TLS handshake.
    package var tls: Int
    /// From the connection to the first byte of the response.
    package var firstByte: Int
    /// From the first byte of the response to its last.
    package var body: Int
    /// Waiting for the disk thread.
    package var storeQueue = 0
    package var hash = 0
    /// Looking up the digest and appending the record to its group.
    package var append = 0
    /// Waiting for the group to fill, writing and syncing it.
    package var sync = 0
    /// Waiting for the transaction, and committing it.
    package var commit = 0
    /// Identifies the connection of the last transfer; 0 if it is unknown.
    package var connection: Int
    /// The end of the last stage, in microseconds since 1970; 0 before.
    package var end: Int64 = 0
    /// The end of the latest stage so far.
    private var stageEnd: ContinuousClock.Instant

    /// - Parameters:
    ///   - submitted: when the cover was requested.
    ///   - now: the end of the transfer.
    init(submitted: ContinuousClock.Instant, transfer: TransferTimings, now: ContinuousClock.Instant) {
        queue = max(0, submitted.microseconds(to: now) - transfer.total)
        (name, connect, tls) = (transfer.name, transfer.connect, transfer.tls)
        (firstByte, body, connection) = (transfer.firstByte, transfer.body, transfer.connection)
        stageEnd = now
    }

    /// Ends a stage. - Returns: its duration.
    package mutating func endStage(at now: ContinuousClock.Instant) -> Int {
        defer { stageEnd = now }
        return stageEnd.microseconds(to: now)
    }
}
