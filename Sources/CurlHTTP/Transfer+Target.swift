import CCurl
import Platform

/// What is requested.
extension Transfer {
    /// Whether the environment may name a proxy for http URLs.
    private static let hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { (name: String) in
        getenv(name).map { $0[0] != 0 } ?? false
    }

    /// Sets the URL, and the request target to the byte: some releases of libcurl drop an empty query and change the case of
    /// percent-encodings.
    func setTarget(_ request: TransferRequest) {
        sleeve_setopt_string(easy, CURLOPT_URL, request.url.requestURL)
        // A target of its own would also be sent to where libcurl follows a redirect, and to a proxy that needs the whole URL.
        let isOwn = (!request.followsRedirects || request.relay != nil) && (request.url.isHTTPS || !Self.hasProxy)
        sleeve_setopt_string(easy, CURLOPT_REQUEST_TARGET, isOwn ? String(request.url.target) : nil)
    }
}
