import CCurl
import Platform

extension TransferError {
    static let noAnswer = "the server closed the connection without an answer"

    /// Whether the server has reset or closed the connection during the TLS handshake.
    private static func isClosedHandshake(_ text: String) -> Bool {
        text.contains(.closedInHandshake) || text.contains(.endedInHandshake)
            || text.contains(String(cString: strerror(ECONNRESET)))
    }

    /// Whether `errno` says that this process, or this computer, lacks memory or descriptors.
    static func isLackOfResources(_ error: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(error) }

    /// Classifies libcurl's code.
    /// - Parameters:
    ///   - text: libcurl's message about this failure.
    ///   - systemError: `errno` of the connection attempt, or of its socket; 0 if none failed.
    init(
        _ code: CURLcode, url: String, isTooLarge: Bool, received: Int, limit: Int, text: String, systemError: Int32 = 0
    ) {
        switch code {
        // No fault of the server's.
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
            self.init(.outOfResources, url: url, detail: text)
        case CURLE_COULDNT_CONNECT where Self.isLackOfResources(systemError):
            let advice = [EMFILE, ENFILE].contains(systemError) ? "; \(DescriptorLimit.advice)" : ""
            self.init(.outOfResources, url: url, detail: String(cString: strerror(systemError)) + advice)
        case CURLE_COULDNT_CONNECT:
            self.init(.connect, url: url, detail: text)
            isRefused = systemError == ECONNREFUSED
        case CURLE_WRITE_ERROR where isTooLarge:
            self.init(
                .tooLarge, url: url, detail: "larger than the limit of \(ByteCount(limit)); raise the maximum size")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.nameResolution, url: url, detail: text)
        case CURLE_OPERATION_TIMEDOUT:
            self.init(.timeout, url: url, detail: text)
        case CURLE_PARTIAL_FILE:
            self.init(.truncated, url: url, detail: "the body ended early: \(text)")
        case CURLE_RECV_ERROR where received > 0, CURLE_HTTP2_STREAM where received > 0, CURLE_HTTP2 where received > 0:
            self.init(.truncated, url: url, detail: "the connection broke after \(received) bytes: \(text)")
        case CURLE_GOT_NOTHING:
            self.init(.broken, url: url, detail: Self.noAnswer)
        case CURLE_UNSUPPORTED_PROTOCOL:
            self.init(.broken, url: url, detail: "the server does not answer with HTTP")
        // A busy server closes connections during the handshake. That says nothing about its certificate.
        case CURLE_SSL_CONNECT_ERROR where Self.isClosedHandshake(text):
            self.init(.connect, url: url, detail: text)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            self.init(.tls, url: url, detail: text)
        case CURLE_PROXY, CURLE_INTERFACE_FAILED:
            self.init(.connect, url: url, detail: text)
        default:
            self.init(.broken, url: url, detail: text)
        }
    }
}

extension UnsafeMutableRawPointer {
    /// What an easy handle whose transfer has timed out was waiting for.
    /// - Parameter text: libcurl's message. It stays where it names the host or the proxy that was to be connected to.
    func timeoutDetail(_ body: BodyExtent, _ text: String) -> String {
        let tenths = (offset(CURLINFO_TOTAL_TIME_T) + 50_000) / 100_000
        let time = tenths >= 100 || tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        if offset(CURLINFO_PRETRANSFER_TIME_T) == 0 {
            let isNamed = text.hasPrefix(.failedToConnect) || text.contains("roxy")
            return isNamed ? text : "timed out after \(time) before the connection was ready"
        }
        if status == nil { return "timed out after \(time) without an answer" }
        let whole = body.announced.map { " of \(ByteCount($0))" } ?? ""
        return "timed out after \(time) with \(ByteCount(body.received))\(whole) received"
    }
}
