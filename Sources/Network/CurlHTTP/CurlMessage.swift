/// Parts of libcurl's messages that say more than its codes do. They are those of libcurl 7.88 to 8.17; `CurlMessageTests` provokes
/// them, so that another version which words them differently is noticed.
package enum CurlMessage: String, CaseIterable, Sendable {
    /// `CURLE_COULDNT_CONNECT`: host and port follow.
    case failedToConnect = "Failed to connect to "
    /// `CURLE_RECV_ERROR`: the system's reason follows.
    case receiveFailed = "Recv failure: "
    /// `CURLE_SEND_ERROR`: the system's reason follows.
    case sendFailed = "Send failure: "
    /// `CURLE_COULDNT_RESOLVE_HOST`: the name follows.
    case hostUnresolved = "Could not resolve host: "
    /// `CURLE_COULDNT_RESOLVE_PROXY`.
    case proxyUnresolved = "resolve proxy"
    /// A proxy has refused a tunnel: `CURLE_COULDNT_CONNECT` or `CURLE_RECV_ERROR`.
    case tunnelFailed = "CONNECT tunnel failed"
    /// The same before libcurl 8.
    case answeredByProxy = "from proxy"
    /// `CURLE_SSL_CONNECT_ERROR` because the server has closed the connection: OpenSSL 1.
    case closedInHandshake = "SSL_ERROR_SYSCALL"
    /// The same of OpenSSL 3, and `CURLE_RECV_ERROR` for an end without TLS's notice.
    case endedInHandshake = "unexpected eof"
    /// `CURLE_PEER_FAILED_VERIFICATION`: the reason follows.
    case untrusted = "SSL certificate problem: "
    /// An error of OpenSSL: its reason follows.
    case ofOpenSSL = "SSL routines::"
}

extension String {
    package func contains(_ message: CurlMessage) -> Bool { contains(message.rawValue) }
    package func hasPrefix(_ message: CurlMessage) -> Bool { hasPrefix(message.rawValue) }
}
