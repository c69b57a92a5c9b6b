import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's HTTP/1.1 channel on the connection's own event loop.
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
        let base = HTTP1Channel(
            responder: { [responder] request, writer, _ in
                try await responder.respond(to: request, on: connection, with: writer)
            },
            configuration: HTTP1Channel.Configuration(additionalChannelHandlers: [HalfClosureHandler()]))
        let ready = channel.eventLoop.flatSubmit { [context] in
            do {
                // A closed pipeline accepts no handlers. The channel cannot close while this closure runs.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                if let fastPath = FastPathHandler(context) {
                    try channel.pipeline.syncOperations.addHandler(fastPath)
                }
                let value = base.setup(channel: channel, logger: logger)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return value
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        guard let value = try? await ready.get() else { return connection.close() }
        await withTaskExecutorPreference(EventLoopTaskExecutor(channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
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
