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
}
