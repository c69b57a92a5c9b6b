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
        case tooManyRedirects
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
