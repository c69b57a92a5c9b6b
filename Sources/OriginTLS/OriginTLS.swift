package import NIOCore
import NIOHTTP2
import NIOHTTPTypesHTTP2
import NIOSSL
import OriginServer

/// HTTPS for an origin: TLS with a certificate made here, and HTTP/2 for clients that negotiate it (ALPN).
package struct OriginTLS: OriginTransport {
    /// The certificate that clients must trust, in PEM.
    package let certificate: String
    private let context: NIOSSLContext
    private let maximumStreams: Int

    /// The default of `maximumStreams`, as in nginx.
    package static let defaultStreams = 128

    /// - Parameters:
    ///   - offersHTTP2: Offers HTTP/2 and HTTP/1.1; false offers HTTP/1.1 only.
    ///   - maximumStreams: The maximum number of streams that a client may have open in an HTTP/2 connection
    ///     (SETTINGS_MAX_CONCURRENT_STREAMS).
    /// - Throws: `OriginTLSError` if the certificate cannot be made.
    package init(offersHTTP2: Bool = true, maximumStreams: Int = Self.defaultStreams) throws(OriginTLSError) {
        do {
            let certificate = try OriginCertificate()
            self.certificate = certificate.pem
            context = try certificate.context(protocols: offersHTTP2 ? NIOHTTP2SupportedALPNProtocols : ["http/1.1"])
        } catch {
            throw OriginTLSError(cause: "\(error)")
        }
        self.maximumStreams = maximumStreams
    }

    package func configure(
        _ channel: any Channel, http1: @escaping @Sendable (any Channel) throws -> Void,
        requests: @escaping @Sendable (any Channel) throws -> Void
    ) throws {
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        channel.configureHTTP2SecureUpgrade(
            h2ChannelConfigurator: { channel in
                channel.eventLoop.makeCompletedFuture { try http2(channel, requests) }
            },
            http1ChannelConfigurator: { channel in channel.eventLoop.makeCompletedFuture { try http1(channel) } }
        ).whenFailure { _ in channel.close(promise: nil) }
    }

    private func http2(_ channel: any Channel, _ requests: @escaping @Sendable (any Channel) throws -> Void) throws {
        var (connection, stream) = (NIOHTTP2Handler.ConnectionConfiguration(), NIOHTTP2Handler.StreamConfiguration())
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 80 << 10),
        ]
        // Some faults send a wrong length, and clients that cancel many streams are no attack here.
        connection.contentLengthValidation = .disabled
        stream.streamResetFrameRateLimit.maximumCount = .max
        stream.streamErrorRateLimit.maximumCount = .max
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: connection, streamConfiguration: stream
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                try requests(stream)
            }
        }
    }
}

/// An origin's certificate cannot be made.
package struct OriginTLSError: Error, CustomStringConvertible {
    let cause: String
    package var description: String { "cannot make a certificate: \(cause)" }
}
