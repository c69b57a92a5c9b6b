/// Where the time of a transfer went, in microseconds. The stages follow each other.
///
/// The time for which libcurl held the transfer back before it chose a connection (`CURLOPT_PIPEWAIT`) is in none of them.
package struct TransferTimings: Sendable, Hashable {
    /// Name resolution.
    package var name = 0
    /// TCP handshake.
    package var connect = 0
    /// TLS handshake.
    package var tls = 0
    /// From the connection to the first byte of the response, the sending of the request included.
    package var firstByte = 0
    /// From the first byte to the end.
    package var body = 0
    /// Identifies the connection: two transfers with one number shared it. 0 if it is unknown.
    package var connection = 0

    package init() {}

    package var total: Int { name + connect + tls + firstByte + body }

    /// The stages of a transfer and of the redirects that led to it, each summed. The connection is that of `last`.
    package static func + (redirects: Self, last: Self) -> Self {
        var sum = last
        sum.name += redirects.name
        sum.connect += redirects.connect
        sum.tls += redirects.tls
        sum.firstByte += redirects.firstByte
        sum.body += redirects.body
        return sum
    }
}

extension ContinuousClock.Instant {
    package func microseconds(to end: Self) -> Int {
        let (seconds, attoseconds) = duration(to: end).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
