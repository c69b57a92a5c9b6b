package import NIOCore

/// The layer between an origin's sockets and HTTP: TLS, which may negotiate HTTP/2.
///
/// The module `OriginTLS` implements it. Without a transport, an origin speaks HTTP/1.1 in cleartext.
package protocol OriginTransport: Sendable {
    /// Adds a connection's handlers.
    ///
    /// - Parameters:
    ///   - http1: Adds those of HTTP/1.1 to a connection.
    ///   - requests: Adds those that answer the requests of an HTTP/2 stream. They take `HTTPRequestPart`.
    func configure(
        _ channel: any Channel, http1: @escaping @Sendable (any Channel) throws -> Void,
        requests: @escaping @Sendable (any Channel) throws -> Void
    ) throws
}
