package import HummingbirdCore
package import NIOCore

/// What lies between an origin's sockets and HTTP: TLS, which may negotiate HTTP/2.
///
/// The module `OriginTLS` implements it. Without a transport, an origin speaks HTTP/1.1 in cleartext.
package protocol OriginTransport: Sendable {
    /// Adds a connection's handlers.
    ///
    /// - Parameter http1: Adds those of HTTP/1.1.
    func configure(
        _ channel: any Channel, http1: @escaping @Sendable () -> EventLoopFuture<RequestStream>
    ) throws -> EventLoopFuture<RequestStreams>
}

/// Requests and their responses in turn: an HTTP/1.1 connection, or one stream of HTTP/2.
package typealias RequestStream = HTTP1Channel.Value

/// How the requests of a connection arrive.
package enum RequestStreams: Sendable {
    case single(RequestStream)
    case multiplexed(any AsyncSequence<RequestStream, any Error> & Sendable)
}
