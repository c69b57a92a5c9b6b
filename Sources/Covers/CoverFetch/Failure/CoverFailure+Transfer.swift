package import CurlHTTP

extension CoverFailure {
    /// The failure of a transfer.
    /// - Parameters:
    ///   - url: the cover's own URL.
    ///   - target: the URL requested: `url`, or the target of a redirect.
    init(_ error: TransferError, of url: HTTPURL, at target: HTTPURL) {
        self.init(error)
        self.url = url.string
        if target != url { self = redirected(to: target) }
    }

    package init(_ error: TransferError) {
        // Errors have the names of failures, but for a coding that cannot be decoded.
        let kind = Kind(rawValue: error.name ?? error.kind.rawValue) ?? .notAnImage
        self.init(kind, url: error.url, detail: Self.detail(of: error))
        isConnectionRefused = error.isRefused
        isOfHTTP2 = error.isOfHTTP2
        silentFamily = error.silentFamily
        isPartial = error.isPartial
        isOfProxy = Proxy(for: error.url)?.isUnreachable(error.detail) ?? false
    }

    /// Rewords libcurl's message: a host by its name and port, without milliseconds and system calls.
    private static func detail(of error: TransferError) -> String {
        let detail = Proxy(for: error.url)?.attributing(error.detail) ?? error.detail
        guard let cause = detail.split(separator: ": ").last else { return detail }
        let reason = cause.prefix(1).lowercased() + cause.dropFirst()
        var host: String? { (try? HTTPURL(error.url))?.authority }
        switch error.kind {
        case .connect where detail.hasPrefix(.failedToConnect), .timeout where detail.hasPrefix(.failedToConnect):
            return host.map { "can't reach \($0): \(reason)" } ?? detail
        case .broken where detail.hasPrefix(.receiveFailed) || detail.hasPrefix(.sendFailed),
            .connect where detail.hasPrefix(.receiveFailed) || detail.hasPrefix(.sendFailed):
            return "the server broke the connection: \(reason)"
        case .tls where detail.contains(.ofOpenSSL):
            let reason = reason.split(separator: "::").last ?? reason[...]
            // What OpenSSL says of an answer in plain text.
            if reason == "wrong version number", let host { return "\(host) answers without TLS; try http://" }
            return "TLS failed: \(reason)"
        case .tls where detail.hasPrefix(.untrusted):
            return host.map { "the certificate of \($0) is not trusted: \(reason)" } ?? detail
        case .nameResolution where detail.hasPrefix(.hostUnresolved):
            return "can't find \(cause): the name has no address"
        default: return detail
        }
    }
}
