import Platform

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
