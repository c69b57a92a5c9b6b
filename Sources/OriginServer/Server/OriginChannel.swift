import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's HTTP/1.1 channel on the connection's own event loop, behind the origin's transport if there is one.
struct OriginChannel: ServerChildChannel {
    private let context: OriginContext
    private let responder: Responder

    init(_ context: OriginContext) {
        self.context = context
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
                let streams = try configure(connection, logger)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return streams
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        guard let streams = try? await ready.get() else { return connection.close() }
        await withTaskExecutorPreference(EventLoopTaskExecutor(channel.eventLoop)) {
            switch streams {
            case .single(let stream): await http1(connection).handle(value: stream, logger: logger)
            case .multiplexed(let streams): await handle(streams, logger)
            }
        }
    }

    /// Adds a connection's handlers.
    private func configure(_ connection: Connection, _ logger: Logger) throws -> EventLoopFuture<RequestStreams> {
        let channel = connection.channel
        // Next to the socket: TLS does not close a connection that ends without TLS's own end.
        try channel.pipeline.syncOperations.addHandler(HalfClosureHandler())
        guard let transport = context.options.transport else {
            return setupHTTP1(connection, logger).map { .single($0) }
        }
        return try transport.configure(channel) { setupHTTP1(connection, logger) }
    }

    private func setupHTTP1(_ connection: Connection, _ logger: Logger) -> EventLoopFuture<RequestStream> {
        let channel = connection.channel
        do {
            if let fastPath = FastPathHandler(context) {
                try channel.pipeline.syncOperations.addHandler(fastPath)
            }
            return http1(connection).setup(channel: channel, logger: logger)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Answers the requests of a multiplexed connection. To a response, a stream is a connection with one request.
    private func handle(
        _ streams: any AsyncSequence<RequestStream, any Error> & Sendable, _ logger: Logger
    ) async {
        try? await withThrowingDiscardingTaskGroup { group in
            for try await stream in streams {
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
        HTTP1Channel { [responder] request, writer, _ in
            try await responder.respond(to: request, on: connection, with: writer)
        }
    }
}

/// Closes a connection whose client has closed its sending side.
///
/// Hummingbird keeps such a connection open for the response. A response that is never sent would keep it open forever.
final class HalfClosureHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
