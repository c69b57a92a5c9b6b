import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOSSL

/// Hummingbird's HTTP/1.1 channel on the connection's own event loop, or, over TLS, HTTP/2 if the client wants it (ALPN).
struct OriginChannel: ServerChildChannel {
    private typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    private typealias Negotiated = NIONegotiatedHTTPVersion<Stream, NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>>

    private let context: OriginContext
    private let responder: Responder
    /// Nil without TLS.
    private let tls: NIOSSLContext?

    init(_ context: OriginContext, tls: NIOSSLContext?) {
        self.context = context
        self.tls = tls
        responder = Responder(context)
    }

    /// Registers a connection. It is not read until `handle` adds the handlers.
    ///
    /// A connection that is accepted while the origin stops may never be handled, and NIO traps if an async channel is
    /// released before it is used. A connection without one is closed by `ConnectionRegistry`.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.autoRead, value: false)
            let connection = Connection(channel)
            context.metrics.connections.add(1)
            context.connections.add(connection)
            channel.closeFuture.whenComplete { [context] _ in
                context.connections.remove(connection)
                connection.endPause()
            }
            return connection
        }
    }

    func handle(value connection: Connection, logger: Logger) async {
        let channel = connection.channel
        let ready = channel.eventLoop.flatSubmit {
            do {
                // A closed pipeline accepts no handlers. The channel cannot close while this closure runs.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                let negotiated = try negotiate(connection, logger)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return negotiated
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        guard let negotiated = try? await ready.get() else { return connection.close() }
        await withTaskExecutorPreference(EventLoopTaskExecutor(channel.eventLoop)) {
            switch negotiated {
            case .http1_1(let stream): await http1(connection).handle(value: stream, logger: logger)
            case .http2(let streams): await handle(streams, logger)
            }
        }
    }

    /// Adds a connection's handlers.
    private func negotiate(_ connection: Connection, _ logger: Logger) throws -> EventLoopFuture<Negotiated> {
        let channel = connection.channel
        let handlers = channel.pipeline.syncOperations
        guard let tls else { return try setupHTTP1(connection, logger).map { .http1_1($0) } }
        // Before TLS, which does not close a connection that ends without TLS's own end.
        try handlers.addHandler(HalfClosureHandler())
        try handlers.addHandler(NIOSSLServerHandler(context: tls))
        return channel.configureHTTP2AsyncSecureUpgrade(
            http1ConnectionInitializer: { channel in
                do { return try setupHTTP1(connection, logger) } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            },
            http2ConnectionInitializer: { channel in channel.eventLoop.makeCompletedFuture { try setupHTTP2(channel) } }
        ).flatMap { $0 }
    }

    private func setupHTTP1(_ connection: Connection, _ logger: Logger) throws -> EventLoopFuture<Stream> {
        let channel = connection.channel
        if let fastPath = FastPathHandler(context) { try channel.pipeline.syncOperations.addHandler(fastPath) }
        return http1(connection).setup(channel: channel, logger: logger)
    }

    private func setupHTTP2(_ channel: any Channel) throws -> NIOHTTP2Handler.AsyncStreamMultiplexer<Stream> {
        var configuration = NIOHTTP2Handler.Configuration()
        let streams = context.options.tls?.maximumStreams ?? OriginTLS().maximumStreams
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 80 << 10),
        ]
        // Some faults send a wrong length, and clients that cancel many streams are no attack here.
        configuration.connection.contentLengthValidation = .disabled
        configuration.stream.streamResetFrameRateLimit.maximumCount = .max
        configuration.stream.streamErrorRateLimit.maximumCount = .max
        return try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server, configuration: configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                return try Stream(wrappingChannelSynchronously: stream)
            }
        }
    }

    /// Answers the requests of an HTTP/2 connection. To a response, a stream is a connection with one request.
    private func handle(_ streams: NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>, _ logger: Logger) async {
        try? await withThrowingDiscardingTaskGroup { group in
            for try await stream in streams.inbound {
                group.addTask {
                    let connection = Connection(stream.channel)
                    stream.channel.closeFuture.whenComplete { _ in connection.endPause() }
                    await http1(connection).handle(value: stream, logger: logger)
                }
            }
        }
    }

    /// Answers the requests of one connection or stream.
    private func http1(_ connection: Connection) -> HTTP1Channel {
        HTTP1Channel(
            responder: { [responder] request, writer, _ in
                try await responder.respond(to: request, on: connection, with: writer)
            },
            configuration: HTTP1Channel.Configuration(additionalChannelHandlers: [HalfClosureHandler()]))
    }
}

/// Closes a connection whose client has closed its sending side.
///
/// Hummingbird keeps such a connection open for the response. A response that is never sent would keep it open forever.
private final class HalfClosureHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
