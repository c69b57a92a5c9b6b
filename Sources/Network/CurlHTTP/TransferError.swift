import CCurl
import Platform

/// Why a transfer has no response.
package struct TransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A response with an error status is no error of the transfer.
    package enum Kind: String, Sendable, CaseIterable {
        case nameResolution
        case connect
        /// The connection ended before the response began, or the response is not HTTP.
        case broken
        case tls
        case timeout
        case tooLarge
        case truncated
        /// The body has a content coding that cannot be decoded.
        case coding
        case refusedAddress
        case cancelled
        /// This process lacks memory or file descriptors: no fault of the server's.
        case outOfResources
        /// A transport has given a reason of its own, `name`, which says nothing of the host.
        case other
    }

    package var kind: Kind
    /// The requested URL.
    package var url: String
    /// One line for people. It may contain the credentials of a redirect's target or of a proxy.
    package var detail: String
    /// For `connect`: the host has refused the connection.
    package var isRefused = false
    /// What arrived was no valid HTTP/2, or its server refuses to speak it, or has ended the connection without an answer.
    package var isOfHTTP2 = false
    /// A host of this family has accepted a connection and a request, and sent nothing until the time was over.
    package var silentFamily: AddressFamily?
    /// For `timeout`: a part of the body has arrived.
    package var isPartial = false
    /// For `other`: the name of the failure.
    package var name: String?
    /// Duration of the transfer in microseconds.
    package var microseconds = 0

    package init(_ kind: Kind, url: String, detail: String) {
        self.kind = kind
        self.url = url
        self.detail = detail
    }

    package var description: String { "\(url): \(detail)" }
}

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
        let advice = [EMFILE, ENFILE].contains(systemError) ? "; \(DescriptorLimit.advice)" : ""
        let (kind, detail): (Kind, String) =
            switch code {
            // No fault of the server's.
            case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: (.outOfResources, text)
            case CURLE_COULDNT_CONNECT where Self.isLackOfResources(systemError):
                (.outOfResources, String(cString: strerror(systemError)) + advice)
            case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: (.connect, text)
            case CURLE_WRITE_ERROR where isTooLarge:
                (.tooLarge, "larger than the limit of \(ByteCount(limit)); raise the maximum size")
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.nameResolution, text)
            case CURLE_OPERATION_TIMEDOUT: (.timeout, text)
            case CURLE_PARTIAL_FILE: (.truncated, "the body ended early: \(text)")
            case CURLE_RECV_ERROR where received > 0, CURLE_HTTP2_STREAM where received > 0,
                CURLE_HTTP2 where received > 0:
                (.truncated, "the connection broke after \(received) bytes: \(text)")
            case CURLE_GOT_NOTHING: (.broken, Self.noAnswer)
            case CURLE_UNSUPPORTED_PROTOCOL: (.broken, "the server does not answer with HTTP")
            // A busy server closes connections during the handshake. That says nothing about its certificate.
            case CURLE_SSL_CONNECT_ERROR where Self.isClosedHandshake(text): (.connect, text)
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
                (.tls, text)
            default: (.broken, text)
            }
        self.init(kind, url: url, detail: detail)
        isRefused = code == CURLE_COULDNT_CONNECT && systemError == ECONNREFUSED
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
