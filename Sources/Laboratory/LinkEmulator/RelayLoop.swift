import NIOCore
import NIOPosix

/// A relay's connections and its link, on one event loop.
///
/// The simulation runs on the event loop's clock. A timer wakes it for the next event, and at the earliest half a
/// millisecond after the last arrival, so that a busy link moves many segments together.
final class RelayLoop {
    private let eventLoop: any EventLoop
    private let server: SocketAddress
    private let shared: SharedMetrics
    private let start = NIODeadline.now()
    private var directions: [RelaySide: LinkDirection]
    private var connections: [Int: RelayedConnection] = [:]
    /// The ends whose sockets are not read.
    private var paused: [(connection: RelayedConnection, side: RelaySide)] = []
    private var metrics = LinkMetrics()
    private var arrivals: [LinkDirection.Arrival] = []
    private var timer: (task: Scheduled<Void>, due: NIODeadline)?
    private var lastTick = NIODeadline.uptimeNanoseconds(0)

    /// The bytes of a connection that may wait before the relay stops reading their sender's socket.
    private static let maximumWaiting = 256 << 10
    private static let tick = TimeAmount.microseconds(500)

    init(_ model: LinkModel, server: SocketAddress, _ shared: SharedMetrics, on eventLoop: any EventLoop) {
        (self.server, self.shared, self.eventLoop) = (server, shared, eventLoop)
        directions = [
            .client: LinkDirection(model, seed: model.seed), .server: LinkDirection(model, seed: ~model.seed),
        ]
    }

    private var now: Duration { .nanoseconds((NIODeadline.now() - start).nanoseconds) }

    /// Relays a client's new connection.
    func accept(_ channel: any Channel) throws {
        metrics.connections += 1
        metrics.openConnections += 1
        metrics.peakConnections = max(metrics.peakConnections, metrics.openConnections)
        let connection = RelayedConnection(id: metrics.connections, client: channel)
        connections[connection.id] = connection
        try channel.pipeline.syncOperations.addHandler(RelayHandler(self, connection, .client))
        directions[.client]?.open(connection.id, at: now)
        schedule()
    }

    /// Closes every connection.
    func stop() {
        timer?.task.cancel()
        for connection in connections.values {
            for end in connection.ends.values { end.channel?.close(promise: nil) }
        }
        connections = [:]
        paused = []
    }

    /// Sends what one end of a connection has written.
    func didRead(_ bytes: ByteBuffer, from side: RelaySide, of connection: RelayedConnection) {
        connection.ends[side]?.sent.append(bytes)
        if side == .client { metrics.bytesUp += bytes.readableBytes } else { metrics.bytesDown += bytes.readableBytes }
        directions[side]?.send(bytes.readableBytes, on: connection.id, at: now)
        updateReading(from: side, of: connection)
        schedule()
    }

    /// Ends the stream from one end of a connection.
    func didEnd(_ side: RelaySide, of connection: RelayedConnection, with event: LinkEvent) {
        guard connection.ends[side]?.hasEnded == false || event == .reset else { return }
        connection.ends[side]?.hasEnded = true
        directions[side]?.end(connection.id, with: event, at: now)
        schedule()
    }

    /// Forgets one end of a connection; one that disappears without an end has reset it.
    func didClose(_ side: RelaySide, of connection: RelayedConnection) {
        if connection.ends[side]?.hasEnded == false { didEnd(side, of: connection, with: .reset) }
        connection.ends[side]?.isClosed = true
        if side == .client { metrics.openConnections -= 1 }
        guard connection.ends.values.allSatisfy(\.isClosed) else { return }
        connections[connection.id] = nil
        paused.removeAll { $0.connection === connection }
        for side in RelaySide.allCases { directions[side]?.remove(connection.id) }
        publish()
    }

    /// Opens or closes the receive window of one end.
    func didChangeWritability(_ side: RelaySide, of connection: RelayedConnection, isWritable: Bool) {
        directions[side.other]?.setReceiving(isWritable, on: connection.id, at: now)
        schedule()
    }

    private func schedule() {
        var next: Duration?
        for direction in directions.values {
            if let event = direction.nextEvent { next = min(next ?? event, event) }
        }
        guard let next else { return }
        let due = max(start + TimeAmount(next), lastTick + Self.tick)
        if let timer {
            guard due < timer.due else { return }
            timer.task.cancel()
        }
        timer = (eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in advance() }, due)
    }

    private func advance() {
        timer = nil
        let now = now
        for side in RelaySide.allCases {
            directions[side]?.advance(to: now)
            var arrivals = arrivals
            self.arrivals = []
            directions[side]?.takeArrivals(&arrivals)
            // Acknowledgements alone delay nothing: a response often arrives just after that of its request.
            if !arrivals.isEmpty { lastTick = .now() }
            for arrival in arrivals { deliver(arrival, from: side) }
            for arrival in arrivals { connections[arrival.connection]?.ends[side.other]?.channel?.flush() }
            self.arrivals = arrivals
        }
        for (connection, side) in paused { updateReading(from: side, of: connection) }
        publish()
        schedule()
    }

    private func deliver(_ arrival: LinkDirection.Arrival, from side: RelaySide) {
        guard let connection = connections[arrival.connection] else { return }
        switch arrival.event {
        case .open: connect(connection)
        case .data: connection.deliver(arrival.length, from: side)
        case .end: connection.finish(side.other)
        case .reset: connection.reset(side.other)
        }
    }

    /// Connects to the server when the client's SYN arrives there; the server's SYN then opens the way back.
    private func connect(_ connection: RelayedConnection) {
        guard connection.ends[.server] == nil else { return }
        connection.ends[.server] = RelayedConnection.End()
        directions[.server]?.open(connection.id, at: now)
        let isolated = NIOLoopBound((self, connection), eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let (loop, connection) = isolated.value
                    try channel.pipeline.syncOperations.addHandler(RelayHandler(loop, connection, .server))
                }
            }
            .connect(to: server)
            .whenComplete { result in
                let (loop, connection) = isolated.value
                switch result {
                case .success(let channel): connection.didConnect(channel)
                case .failure: loop.didClose(.server, of: connection)
                }
            }
    }

    /// Stops reading a socket while too many of its bytes wait for the window.
    private func updateReading(from side: RelaySide, of connection: RelayedConnection) {
        guard let end = connection.ends[side], let direction = directions[side] else { return }
        let isReading = direction.waiting(connection.id) < Self.maximumWaiting
        guard isReading != end.isReading else { return }
        connection.ends[side]?.isReading = isReading
        if isReading {
            paused.removeAll { $0.connection === connection && $0.side == side }
        } else {
            paused.append((connection, side))
        }
        try? end.channel?.syncOptions?.setOption(.autoRead, value: isReading)
    }

    private func publish() {
        metrics.lostSegments = directions.values.reduce(0) { $0 + $1.lostSegments }
        shared.current = metrics
    }
}
