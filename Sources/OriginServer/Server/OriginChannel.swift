import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's HTTP/1.1 channel, run on the connection's own event loop and entered in the ledger.
struct OriginChannel: ServerChildChannel {
    private let options: OriginOptions
    private let responder: Responder
    private let ledger: Ledger

    init(options: OriginOptions, ledger: Ledger) {
        self.options = options
        self.ledger = ledger
        responder = Responder(options: options, ledger: ledger)
    }

    /// Takes note of a connection, and reads nothing yet.
    ///
    /// The handlers come in `handle`. A connection accepted while the origin stops may never get there, and NIO traps when
    /// an async channel is made and then dropped; a connection that has only been noted is closed by `Ledger`.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.autoRead, value: false)
            let connection = Connection(channel)
            ledger.add(connection)
            channel.closeFuture.whenComplete { [ledger] _ in
                ledger.remove(connection)
                connection.wake()
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
            configuration: HTTP1Channel.Configuration(additionalChannelHandlers: [HangUpHandler()]))
        let ready = channel.eventLoop.flatSubmit { [options, ledger] in
            do {
                // Once closed, the pipeline takes no handlers. It cannot close before this closure ends.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                if let shortCut = ShortCut(options, ledger) {
                    try channel.pipeline.syncOperations.addHandler(shortCut)
                }
                let made = base.setup(channel: channel, logger: logger)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return made
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        guard let value = try? await ready.get() else { return connection.close() }
        await withTaskExecutorPreference(LoopExecutor(channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}

extension Connection: ServerChildChannelValue {}

/// Closes a connection whose client has closed its end.
///
/// Hummingbird lets a client that has finished sending still receive. Nobody here does that, and without this a request
/// that is never answered would keep its connection after the client has gone.
private final class HangUpHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
