import HummingbirdCore
import NIOCore
import Synchronization

/// One client's connection: what a response needs in addition to its writer.
final class Connection: ServerChildChannelValue {
    let channel: any Channel
    private let timer = Mutex<Scheduled<Void>?>(nil)

    init(_ channel: any Channel) { self.channel = channel }

    /// Ends a response together with its connection.
    struct Closed: Error {}

    /// Waits on the event loop's timer.
    ///
    /// - Throws: `Closed` or `EventLoopError.cancelled` if the connection closes first.
    func pause(_ duration: Duration) async throws {
        guard channel.isActive else { throw Closed() }
        let scheduled = channel.eventLoop.scheduleTask(in: TimeAmount(duration)) {}
        timer.withLock { $0 = scheduled }
        defer { timer.withLock { $0 = nil } }
        // The connection may have closed just before the timer was stored.
        if !channel.isActive { scheduled.cancel() }
        try await scheduled.futureResult.get()
    }

    /// Waits for `future`.
    ///
    /// - Throws: `Closed` if the connection closes first.
    func wait(for future: EventLoopFuture<Void>) async throws {
        let either = channel.eventLoop.makePromise(of: Void.self)
        future.cascade(to: either)
        channel.closeFuture.cascade(to: either)
        try await either.futureResult.get()
        guard channel.isActive else { throw Closed() }
    }

    func waitUntilClosed() async throws { try await channel.closeFuture.get() }

    /// Closes the connection after everything written is sent. It always throws `Closed`.
    func finish() async throws {
        try await channel.close(mode: .output).get()
        throw Closed()
    }

    /// Resets the connection. It always throws `Closed`.
    func reset() async throws {
        channel.reset()
        endPause()
        throw Closed()
    }

    /// Closes the connection immediately and ends a pause.
    func close() {
        channel.close(promise: nil)
        endPause()
    }

    func endPause() { timer.withLock { $0 }?.cancel() }
}
