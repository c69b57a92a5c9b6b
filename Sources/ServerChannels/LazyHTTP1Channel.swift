package import HummingbirdCore
package import Logging
package import NIOCore

/// Installs Hummingbird's HTTP/1.1 handlers when a connection is handled, not when it is accepted.
///
/// A connection that is accepted while the server closes may never be handled. NIO traps if a `NIOAsyncChannel` is created and
/// then dropped ("Deinited NIOAsyncWriter without calling finish()").
package struct LazyHTTP1Channel<Connection: ServerChildChannelValue>: ServerChildChannel {
    private let accept: @Sendable (any Channel) -> Connection
    private let makeChannel: @Sendable (Connection) throws -> HTTP1Channel
    private let executor: @Sendable (any EventLoop) -> (any TaskExecutor)?
    private let clients: ClientRules?

    /// - Parameters:
    ///   - accept: Wraps an accepted channel. A connection that is never handled must be closed by the returned value.
    ///   - executor: The preferred executor of the task that handles a connection.
    ///   - clients: What is required of clients; nil to require nothing.
    ///   - makeChannel: Creates the HTTP/1.1 channel of a connection, on its event loop; may add handlers to its pipeline first.
    package init(
        accept: @escaping @Sendable (any Channel) -> Connection,
        executor: @escaping @Sendable (any EventLoop) -> (any TaskExecutor)? = { _ in nil },
        clients: ClientRules? = nil,
        makeChannel: @escaping @Sendable (Connection) throws -> HTTP1Channel
    ) {
        self.accept = accept
        self.executor = executor
        self.clients = clients
        self.makeChannel = makeChannel
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            // No bytes are read until the handlers that consume them are installed.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            return accept(channel)
        }
    }

    package func handle(value connection: Connection, logger: Logger) async {
        let channel = connection.channel
        let installed = channel.eventLoop.flatSubmit {
            do {
                // A closed pipeline accepts no handlers. The channel cannot close while this closure runs.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                let base = try makeChannel(connection)
                let value = base.setup(channel: channel, logger: logger)
                try clients?.install(on: channel)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return value.map { (base, $0) }
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        if let (base, value) = try? await installed.get() {
            await withTaskExecutorPreference(executor(channel.eventLoop)) {
                await base.handle(value: value, logger: logger)
            }
        }
        // `connection` must live until here: releasing an `AcceptedConnection` closes the channel.
        connection.channel.close(promise: nil)
    }
}

extension LazyHTTP1Channel where Connection == AcceptedConnection {
    /// Handles every connection by `base`.
    package init(_ base: HTTP1Channel, clients: ClientRules) {
        self.init(accept: AcceptedConnection.init, clients: clients, makeChannel: { _ in base })
    }
}

/// An accepted connection that closes its channel when it is released.
package final class AcceptedConnection: ServerChildChannelValue {
    package let channel: any Channel
    init(_ channel: any Channel) { self.channel = channel }
    deinit { channel.close(promise: nil) }
}
