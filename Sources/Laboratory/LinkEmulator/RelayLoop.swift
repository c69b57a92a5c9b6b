import CLinux
import Platform

/// A relay's connections and its link, on one thread.
///
/// The simulation runs on the thread's clock. The thread waits for sockets and for the next event, and for that at least until
/// half a millisecond after the last arrival, so that a busy link moves many segments together.
final class RelayLoop {
    private let listener: Int32
    private let server: SocketAddress
    private let shared: SharedMetrics
    private let start = ContinuousClock.now
    /// The time of all that one turn does.
    private var now = Duration.zero
    /// The directions from each side.
    private var directions: [LinkDirection]
    /// The ends of each connection, by side.
    private var connections: [Int: [RelayEnd]] = [:]
    private var metrics = LinkMetrics() { didSet { shared.current = metrics } }
    private var arrivals: [LinkDirection.Arrival] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// When to advance the link.
    private var due: Duration?
    private var lastTick = Duration.zero

    /// The bytes of a connection that may wait before the relay stops reading their sender's socket.
    private static let maximumWaiting = 256 << 10
    /// The bytes that may have arrived, and not be in the receiver's socket, before its window closes.
    private static let maximumArrived = 64 << 10
    private static let tick = Duration.microseconds(500)

    init(_ model: LinkModel, _ listener: Int32, _ server: SocketAddress, _ shared: SharedMetrics) {
        (self.listener, self.server, self.shared) = (listener, server, shared)
        directions = [LinkDirection(model, seed: model.seed), LinkDirection(model, seed: ~model.seed)]
    }

    /// Carries connections until the other end of the pipe `stopped` is closed, and closes every descriptor then.
    func run(until stopped: Int32) {
        var (sockets, ends): ([pollfd], [RelayEnd]) = ([], [])
        while true {
            sockets.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
            for socket in [stopped, listener] { sockets.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
            for end in connections.values.joined() {
                guard let events = events(of: end) else { continue }
                sockets.append(pollfd(fd: end.socket, events: Int16(events), revents: 0))
                ends.append(end)
            }
            wait(for: &sockets)
            now = start.duration(to: .now)
            if sockets[0].revents != 0 { break }
            if sockets[1].revents != 0 { acceptClients() }
            for (socket, end) in zip(sockets.dropFirst(2), ends) where socket.revents != 0 {
                act(on: Int32(socket.revents), of: end)
            }
            if let due, due <= now { advance() }
        }
        for end in connections.values.joined() where end.isOpen { close(end) }
        for descriptor in [listener, stopped] { Platform.close(descriptor) }
    }

    // MARK: Sockets

    /// What to wait for at one end; nil for nothing at all.
    private func events(of end: RelayEnd) -> Int32? {
        guard end.isOpen else { return nil }
        if end.isConnecting { return POLLOUT }
        let isReading =
            !end.hasEnded && directions[end.side.rawValue].waiting(end.connection) < Self.maximumWaiting
        // The system reports a socket with both streams at their end again and again.
        if !isReading, end.isShut { return nil }
        return (isReading ? POLLIN : 0) | (end.arrived > 0 ? POLLOUT : 0)
    }

    /// Waits until a socket is ready or the link is to be advanced.
    private func wait(for sockets: inout [pollfd]) {
        if let next = directions.compactMap(\.nextEvent).min() {
            let soonest = max(next, lastTick + Self.tick)
            due = min(due ?? soonest, soonest)
        }
        let left = due.map { max(.zero, $0 - start.duration(to: .now)) } ?? .seconds(3600)
        let (seconds, nanoseconds) = (left.components.seconds, left.components.attoseconds / 1_000_000_000)
        #if os(Linux)
            var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
            ppoll(&sockets, nfds_t(sockets.count), &limit, nil)
        #else
            // Rounded up: waking early would spin.
            poll(&sockets, nfds_t(sockets.count), Int32(seconds * 1000 + (nanoseconds + 999_999) / 1_000_000))
        #endif
    }

    private func acceptClients() {
        while case let socket = accept(listener, nil, nil), socket >= 0 {
            SocketAddress.prepare(socket)
            metrics.connections += 1
            metrics.openConnections += 1
            metrics.peakConnections = max(metrics.peakConnections, metrics.openConnections)
            let id = metrics.connections
            connections[id] = [RelayEnd(of: id, .client, socket), RelayEnd(of: id, .server)]
            directions[RelaySide.client.rawValue].open(id, at: now)
        }
    }

    private func act(on events: Int32, of end: RelayEnd) {
        // Reading tells if it has failed to connect.
        end.isConnecting = false
        if events & POLLOUT != 0 { flush(end) }
        guard end.isOpen, events & ~POLLOUT != 0 else { return }
        // After the end of its bytes, only a reset is reported.
        if end.hasEnded { didReset(end) } else { read(from: end) }
    }

    /// Sends what one end has written.
    private func read(from end: RelayEnd) {
        let count = buffer.withUnsafeMutableBytes { Platform.read(end.socket, $0.baseAddress, $0.count) }
        if count > 0 {
            connections[end.connection]?[end.side.other.rawValue].bytes += buffer[..<count]
            if end.side == .client { metrics.bytesUp += count } else { metrics.bytesDown += count }
            directions[end.side.rawValue].send(count, on: end.connection, at: now)
        } else if count == 0 {
            end.hasEnded = true
            directions[end.side.rawValue].end(end.connection, with: .end, at: now)
            if end.isDone { close(end) }
        } else if errno != EAGAIN {
            didReset(end)
        }
    }

    /// Writes what has arrived at one end, which opens or closes its receive window.
    private func flush(_ end: RelayEnd) {
        guard end.isOpen else { return }
        guard end.flush() else { return didReset(end) }
        let isReceiving = end.arrived < Self.maximumArrived
        directions[end.side.other.rawValue].setReceiving(isReceiving, on: end.connection, at: now)
        if end.isDone { close(end) }
    }

    /// Passes on that one end has reset the connection.
    private func didReset(_ end: RelayEnd) {
        directions[end.side.rawValue].end(end.connection, with: .reset, at: now)
        close(end)
    }

    /// Closes one end, and forgets the connection if the other is closed.
    private func close(_ end: RelayEnd, resetting: Bool = false) {
        end.close(resetting: resetting)
        if end.side == .client { metrics.openConnections -= 1 }
        guard connections[end.connection]?.allSatisfy({ !$0.isOpen }) == true else { return }
        connections[end.connection] = nil
        for side in RelaySide.allCases { directions[side.rawValue].remove(end.connection) }
    }

    // MARK: The link

    /// Moves everything that is due.
    private func advance() {
        due = nil
        for side in RelaySide.allCases {
            directions[side.rawValue].advance(to: now)
            directions[side.rawValue].takeArrivals(&arrivals)
            // Acknowledgements alone delay nothing: a response often arrives just after that of its request.
            if !arrivals.isEmpty { lastTick = now }
            for arrival in arrivals {
                if let ends = connections[arrival.connection] { deliver(arrival, to: ends[side.other.rawValue]) }
            }
        }
        metrics.lostSegments = directions.reduce(0) { $0 + $1.lostSegments }
    }

    private func deliver(_ arrival: LinkDirection.Arrival, to end: RelayEnd) {
        switch arrival.event {
        case .open:
            if end.side == .server { connect(end) }
        case .data:
            end.arrived += arrival.length
            flush(end)
        case .end:
            end.hasEndArrived = true
            flush(end)
        case .reset:
            if end.isOpen { close(end, resetting: true) }
        }
    }

    /// Connects to the server when the client's SYN arrives there; the server's SYN then opens the way back.
    private func connect(_ end: RelayEnd) {
        directions[end.side.rawValue].open(end.connection, at: now)
        do throws(SocketAddress.Failure) {
            end.socket = try server.connection()
            end.isConnecting = true
        } catch {
            didReset(end)
        }
    }
}

/// The two ends of a relayed connection.
enum RelaySide: Int, CaseIterable {
    case client
    case server

    var other: RelaySide { self == .client ? .server : .client }
}

/// One end of a connection: a socket, and the bytes from the other end that are on their way to it.
final class RelayEnd {
    let connection: Int
    let side: RelaySide
    /// Negative before the server's is opened and after it is closed.
    var socket: Int32
    /// Whether the system is still connecting the socket.
    var isConnecting = false
    /// Whether its last byte has been read.
    var hasEnded = false
    /// What the other end has sent, in order. The first `written` bytes are in the socket.
    var bytes: [UInt8] = []
    private var written = 0
    /// How many bytes after those have arrived.
    var arrived = 0
    /// Whether the end of these bytes has arrived.
    var hasEndArrived = false
    /// Whether it is in the socket, too.
    private(set) var isShut = false

    init(of connection: Int, _ side: RelaySide, _ socket: Int32 = -1) {
        (self.connection, self.side, self.socket) = (connection, side, socket)
    }

    var isOpen: Bool { socket >= 0 }

    /// Whether the streams in both directions have ended.
    var isDone: Bool { hasEnded && isShut }

    /// Writes what has arrived, as far as the socket takes it, and then the end.
    /// - Returns: False if the connection is broken.
    func flush() -> Bool {
        if isConnecting { return true }
        if arrived > 0 {
            let count = bytes.withUnsafeBytes { write(socket, $0.baseAddress! + written, arrived) }
            if count < 0 { return errno == EAGAIN }
            arrived -= count
            written += count
            // Moves at most as many bytes as were written since the last time.
            if written >= bytes.count - written {
                bytes.removeFirst(written)
                written = 0
            }
        }
        if arrived == 0, hasEndArrived, !isShut {
            shutdown(socket, Int32(SHUT_WR))
            isShut = true
        }
        return true
    }

    func close(resetting: Bool) {
        if resetting { SocketAddress.reset(socket) }
        Platform.close(socket)
        socket = -1
    }
}
