package import HummingbirdCore
package import Logging
package import NIOCore

/// Installs Hummingbird's HTTP/1.1 handlers when a connection is handled, not when it is accepted.
///
/// A connection that is accepted while the server closes may never be handled. NIO traps if a `NIOAsyncChannel` is created and
/// then dropped ("Deinited NIOAsyncWriter without calling finish()").
package struct LazyHTTP1Channel: ServerChildChannel {
    private let base: HTTP1Channel
    private let clients: ClientRules

    /// - Parameter clients: What is required of clients.
    package init(_ base: HTTP1Channel, clients: ClientRules) { (self.base, self.clients) = (base, clients) }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            // No bytes are read until the handlers that consume them are installed.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            return AcceptedConnection(channel)
        }
    }

    package func handle(value connection: AcceptedConnection, logger: Logger) async {
        let channel = connection.channel
        let installed = channel.eventLoop.flatSubmit { () -> EventLoopFuture<HTTP1Channel.Value> in
            do {
                // A closed pipeline accepts no handlers. The channel cannot close while this closure runs.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                let value = base.setup(channel: channel, logger: logger)
                try clients.install(on: channel)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return value
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        if let value = try? await installed.get() { await base.handle(value: value, logger: logger) }
        // `connection` must live until here: releasing it closes the channel.
        connection.channel.close(promise: nil)
    }
}

/// An accepted connection that closes its channel when it is released.
package final class AcceptedConnection: ServerChildChannelValue {
    package let channel: any Channel
    init(_ channel: any Channel) { self.channel = channel }
    deinit { channel.close(promise: nil) }
}
