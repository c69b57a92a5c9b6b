/// A faulty way to answer a request. Error statuses are not among them; see `OriginOptions.status`.
package enum OriginFault: String, CaseIterable, Sendable {
    /// Sends the correct `Content-Length` and half of the body, then closes the connection.
    case truncate
    /// Sends a `Content-Length` that is 1,000 bytes too large and the whole body, then closes the connection.
    case wrongLength = "wrong-length"
    /// Sends a `Content-Length` of half of the body and the whole body, then closes the connection.
    case excess
    /// Resets the connection (RST) before the response.
    case reset
    /// Closes the connection (FIN) before the response.
    case close
    /// Sends 200 and an HTML page, as a captive portal does.
    case html
    /// Sends 200 and a JSON error.
    case json
    /// Sends 200 and a JSON error about an exceeded rate limit.
    case quota
    /// Sends 200 and an empty body.
    case empty
    /// Sends a cover and then filler bytes without end, without `Content-Length`.
    case endless
    /// Redirects to the same URL.
    case loop
    /// Sends nothing. The connection stays open until the client closes it or the origin stops.
    case never

    /// The names of all faults, for messages.
    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
