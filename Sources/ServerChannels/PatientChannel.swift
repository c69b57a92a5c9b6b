package import HummingbirdCore
package import Logging
package import NIOCore

/// A connection as it was accepted. One that nobody comes to handle is closed.
package final class AcceptedConnection: ServerChildChannelValue {
    package let channel: any Channel
    init(_ channel: any Channel) { self.channel = channel }
    deinit { channel.close(promise: nil) }
}

/// Hummingbird's HTTP/1.1 channel, made when its connection is handled.
///
/// One that is accepted while the server closes may never be, and NIO ends the program when an async channel is made and then
/// dropped ("Deinited NIOAsyncWriter without calling finish()").
package struct PatientChannel: ServerChildChannel {
    private let base: HTTP1Channel

    package init(_ base: HTTP1Channel) { self.base = base }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            // Nothing is read before there is somebody to read it.
            try channel.syncOptions?.setOption(.autoRead, value: false)
            return AcceptedConnection(channel)
        }
    }

    package func handle(value connection: AcceptedConnection, logger: Logger) async {
        let channel = connection.channel
        let ready = channel.eventLoop.flatSubmit { [base] in
            do {
                // Once closed, the pipeline takes no handlers. It cannot close before this closure ends.
                guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                let made = base.setup(channel: channel, logger: logger)
                try channel.syncOptions?.setOption(.autoRead, value: true)
                return made
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        if let value = try? await ready.get() { await base.handle(value: value, logger: logger) }
        // It is held until here.
        connection.channel.close(promise: nil)
    }
}
