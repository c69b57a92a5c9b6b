import DequeModule
import NIOCore

/// The two ends of a relayed connection.
enum RelaySide: CaseIterable {
    case client
    case server

    var other: RelaySide { self == .client ? .server : .client }
}

/// A client's connection and the relay's connection to the server.
final class RelayedConnection {
    struct End {
        /// Nil until the server's end is connected.
        var channel: (any Channel)?
        /// The bytes it has sent that have not arrived.
        var sent = Deque<ByteBuffer>()
        /// The bytes for it that arrived before it was connected, and whether its stream ended meanwhile.
        var early = ByteBuffer()
        var earlyEvent: LinkEvent?
        /// Whether the relay reads its socket.
        var isReading = true
        /// Whether it has sent its last byte.
        var hasEnded = false
        var isClosed = false
    }

    let id: Int
    var ends: [RelaySide: End]

    init(id: Int, client: any Channel) {
        self.id = id
        ends = [.client: End(channel: client)]
    }

    /// Writes bytes that have arrived to the end opposite `side`, without flushing.
    func deliver(_ length: Int, from side: RelaySide) {
        var length = length
        while length > 0, let available = ends[side]?.sent.first?.readableBytes {
            if available <= length, let bytes = ends[side]?.sent.popFirst() {
                write(bytes, to: side.other)
            } else if let bytes = ends[side]?.sent[0].readSlice(length: length) {
                write(bytes, to: side.other)
            }
            length -= available
        }
    }

    private func write(_ bytes: ByteBuffer, to side: RelaySide) {
        if let channel = ends[side]?.channel {
            channel.write(bytes, promise: nil)
        } else {
            ends[side]?.early.writeImmutableBuffer(bytes)
        }
    }

    /// Ends the stream to an end.
    func finish(_ side: RelaySide) {
        if let channel = ends[side]?.channel {
            channel.flush()
            channel.close(mode: .output, promise: nil)
        } else {
            ends[side]?.earlyEvent = .end
        }
    }

    /// Resets an end.
    func reset(_ side: RelaySide) {
        guard let channel = ends[side]?.channel, let socket = channel as? any SocketOptionProvider else {
            ends[side]?.earlyEvent = .reset
            return
        }
        // Closing a socket that lingers for zero seconds (`struct linger`) sends RST.
        socket.unsafeSetSocketOption(level: .socket, name: .so_linger, value: SIMD2<CInt>(1, 0))
            .whenComplete { _ in channel.close(promise: nil) }
    }

    /// Stores the server's channel and writes what arrived before it was connected.
    func didConnect(_ channel: any Channel) {
        guard let end = ends[.server] else { return }
        ends[.server]?.channel = channel
        ends[.server]?.early = ByteBuffer()
        if end.early.readableBytes > 0 { channel.writeAndFlush(end.early, promise: nil) }
        if end.earlyEvent == .end { finish(.server) }
        if end.earlyEvent == .reset { reset(.server) }
    }
}

/// Passes the events of one end's socket to the relay.
final class RelayHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let loop: RelayLoop
    private let connection: RelayedConnection
    private let side: RelaySide

    init(_ loop: RelayLoop, _ connection: RelayedConnection, _ side: RelaySide) {
        (self.loop, self.connection, self.side) = (loop, connection, side)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        loop.didRead(unwrapInboundIn(data), from: side, of: connection)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { loop.didEnd(side, of: connection, with: .end) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        loop.didEnd(side, of: connection, with: .reset)
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        loop.didChangeWritability(side, of: connection, isWritable: context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) { loop.didClose(side, of: connection) }
}
