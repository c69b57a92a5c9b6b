import NIOCore
import Synchronization

/// One client's connection: what a response needs besides its writer.
final class Connection: Sendable {
    let channel: any Channel
    private let timer = Mutex<Scheduled<Void>?>(nil)

    init(_ channel: any Channel) { self.channel = channel }

    /// The response ends here, with the connection.
    struct HungUp: Error {}

    /// The C library's `struct linger`, which has no name that can be imported on every system: two ints.
    private struct Linger {
        var isOn: CInt = 1
        var seconds: CInt = 0
    }

    /// Waits on the event loop's timer.
    ///
    /// - Throws: when the connection closes first.
    func pause(_ duration: Duration) async throws {
        guard channel.isActive else { throw HungUp() }
        let scheduled = channel.eventLoop.scheduleTask(in: TimeAmount(duration)) {}
        timer.withLock { $0 = scheduled }
        defer { timer.withLock { $0 = nil } }
        // Closing may have looked for a timer just before there was one.
        if !channel.isActive { scheduled.cancel() }
        try await scheduled.futureResult.get()
    }

    /// Waits for `opening`.
    ///
    /// - Throws: when the connection closes first.
    func wait(for opening: EventLoopFuture<Void>) async throws {
        let either = channel.eventLoop.makePromise(of: Void.self)
        opening.cascade(to: either)
        channel.closeFuture.cascade(to: either)
        try await either.futureResult.get()
        guard channel.isActive else { throw HungUp() }
    }

    /// Waits for the connection to close.
    func untilClosed() async throws { try await channel.closeFuture.get() }

    /// Closes the connection once all that was written has left.
    func finish() async throws {
        try await channel.close(mode: .output).get()
        throw HungUp()
    }

    /// Closes the connection at once with a reset: closing a socket that lingers for zero seconds sends RST, not FIN.
    func reset() async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.unsafeSetSocketOption(level: .socket, name: .so_linger, value: Linger()).get()
        }
        close()
        throw HungUp()
    }

    /// Closes the connection at once and ends what waits on it.
    func close() {
        channel.close(promise: nil)
        wake()
    }

    /// Ends a pause.
    func wake() { timer.withLock { $0 }?.cancel() }
}
