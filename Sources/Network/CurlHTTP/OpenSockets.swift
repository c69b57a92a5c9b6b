import Platform

/// The sockets of libcurl's connections, with the transfers that opened them.
final class OpenSockets {
    private var openers: [Int32: (transfer: Transfer.ID, origin: Substring)] = [:]

    /// The number of connections to an origin, without that of `transfer`. The sockets that a transfer opens count as one
    /// connection: it may try several addresses at a time (RFC 8305).
    func connections(to origin: Substring, without transfer: Transfer.ID) -> Int {
        Set(openers.values.lazy.filter { $0.origin == origin && $0.transfer != transfer }.map(\.transfer)).count
    }

    func add(_ socket: Int32, of transfer: Transfer.ID, to origin: Substring) { openers[socket] = (transfer, origin) }

    func remove(_ socket: Int32) { openers[socket] = nil }

    /// The socket of a connection to an origin; nil if there is none, or if it is closed.
    func socket(to origin: Substring, localPort: Int) -> Int32? {
        openers.first { $0.value.origin == origin && Self.localPort($0.key) == localPort }?.key
    }

    private static func localPort(_ socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            let code = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
            guard code == 0 else { return nil }
            switch Int32(pointer.pointee.ss_family) {
            case AF_INET:
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            case AF_INET6:
                return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin6_port))
                }
            default: return nil
            }
        }
    }
}
