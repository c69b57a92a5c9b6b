package import HTTPTypes

/// The last response of a transfer, complete.
package struct TransferResponse: Sendable {
    /// The status, and the fields that a private cache needs (`ResponseFields`).
    package var head: HTTPResponse
    /// Empty for a status that brings no cover: other than 200, 203 and 206, and other than 2xx for a POST.
    package var body: [UInt8]
    /// The beginning of the body of a 400, 401 or 403, as far as it was read: it may say why.
    package var refusal: [UInt8] = []
    static let refusals = [400, 401, 403]
    static let longestRefusal = 1_024
    /// The target of a redirect, as the server wrote it; the whole URL.
    package var location: String?
    /// The cookies to send to the target of a redirect.
    package var cookies: [String] = []
    /// The protocol shows that the body is complete (`BodyExtent`).
    package var isEndMarked = true
    package var isHTTP2: Bool
    /// Duration of the transfer in microseconds.
    package var microseconds: Int
    package var timings = TransferTimings()
    /// It came over a connection of HTTP/1.1 that had carried another one.
    package var isOverUsedConnection: Bool {
        !isHTTP2 && timings.connection != 0 && timings.connect == 0 && timings.tls == 0
    }

    /// A response that libcurl did not receive.
    /// - Parameters:
    ///   - head: with all fields. Those that a private cache needs are kept.
    ///   - body: of any status.
    package init(_ head: HTTPResponse, body: [UInt8], to request: TransferRequest, microseconds: Int) {
        var head = head
        let location = head.status.kind == .redirection ? head.headerFields[.location] : nil
        head.headerFields = ResponseFields.cached(head.headerFields)
        self.init(
            head: head, body: head.status.kind == .successful ? body : [],
            location: location.map { request.url.resolving($0) }, microseconds: microseconds)
        if Self.refusals.contains(head.status.code) { refusal = Array(body.prefix(Self.longestRefusal)) }
    }

    package init(
        head: HTTPResponse, body: [UInt8] = [], location: String? = nil, isHTTP2: Bool = false, microseconds: Int = 0
    ) {
        self.head = head
        self.body = body
        self.location = location
        self.isHTTP2 = isHTTP2
        self.microseconds = microseconds
    }
}

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
