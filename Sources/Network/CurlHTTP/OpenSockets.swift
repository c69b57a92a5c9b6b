import Platform

/// The open sockets of libcurl's connections, with the transfers that opened them.
final class OpenSockets {
    /// A connection, or an attempt at one.
    final class Connection {
        let socket: Int32
        fileprivate let opener: Transfer.ID
        fileprivate let origin: Substring
        fileprivate var endpoints: Endpoints?
        fileprivate(set) var isOpen = true
        /// A request of HTTP/1.1 was answered on it.
        var hasAnswered = false

        fileprivate init(_ socket: Int32, of opener: Transfer.ID, to origin: Substring) {
            self.socket = socket
            self.opener = opener
            self.origin = origin
        }

        /// Nil before it is connected.
        var family: AddressFamily? { endpoints.map { $0.peer.contains(":") ? .v6 : .v4 } }

        /// Bytes, an end or an error have arrived that libcurl has not read.
        var isReadable: Bool {
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
                || errno != EAGAIN && errno != EWOULDBLOCK
        }
    }

    /// Both ends of a connection. A port alone does not tell it: one may lead to several servers.
    struct Endpoints: Hashable {
        var local: String
        var localPort: Int
        var peer: String
        var peerPort: Int
    }

    private var connections: [Int32: Connection] = [:]
    private var connected: [Endpoints: Connection] = [:]

    /// The number of connections to an origin, without that of `transfer`. The sockets that a transfer opens count as one
    /// connection: it may try several addresses at a time (RFC 8305).
    func connections(to origin: Substring, without transfer: Transfer.ID) -> Int {
        Set(connections.values.lazy.filter { $0.origin == origin && $0.opener != transfer }.map(\.opener)).count
    }

    func add(_ socket: Int32, of transfer: Transfer.ID, to origin: Substring) {
        connections[socket] = Connection(socket, of: transfer, to: origin)
    }

    func remove(_ socket: Int32) {
        guard let connection = connections.removeValue(forKey: socket) else { return }
        connection.isOpen = false
        if let endpoints = connection.endpoints { connected[endpoints] = nil }
    }

    /// The connection between two ends; nil if there is none.
    func connection(between endpoints: Endpoints) -> Connection? {
        if let known = connected[endpoints] { return known }
        for connection in connections.values where connection.endpoints == nil {
            guard let local = Self.address(of: connection.socket, getsockname),
                let peer = Self.address(of: connection.socket, getpeername)
            else { continue }
            let found = Endpoints(local: local.name, localPort: local.port, peer: peer.name, peerPort: peer.port)
            connection.endpoints = found
            connected[found] = connection
        }
        return connected[endpoints]
    }

    private static func address(
        of socket: Int32,
        _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (name: String, port: Int)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            guard pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, { read(socket, $0, &length) }) == 0
            else { return nil }
            switch Int32(pointer.pointee.ss_family) {
            case AF_INET:
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    (name(AF_INET, &$0.pointee.sin_addr), Int(UInt16(bigEndian: $0.pointee.sin_port)))
                }
            case AF_INET6:
                return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    (name(AF_INET6, &$0.pointee.sin6_addr), Int(UInt16(bigEndian: $0.pointee.sin6_port)))
                }
            default: return nil
            }
        }
    }

    private static func name(_ family: Int32, _ address: UnsafeRawPointer) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) } ?? ""
        }
    }
}
