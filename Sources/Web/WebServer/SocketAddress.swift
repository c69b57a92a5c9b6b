import Platform

/// An IP address and a port.
struct SocketAddress: Sendable {
    /// In its usual form, without brackets.
    var address: String
    var port: Int
    var isIPv6: Bool

    /// As in a `Host` field.
    var authority: String { isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// The address of this end of a socket; nil if it has none.
    init?(localOf socket: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST)), service = text
        let code = withUnsafeMutableBytes(of: &storage) { bytes in
            let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            guard let address, getsockname(socket, address, &length) == 0 else { return Int32(-1) }
            return getnameinfo(
                address, length, &text, socklen_t(text.count), &service, socklen_t(service.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        func string(_ text: [CChar]) -> String {
            text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        }
        guard code == 0, let port = Int(string(service)) else { return nil }
        (address, self.port, isIPv6) = (string(text), port, Int32(storage.ss_family) == AF_INET6)
    }

    init(address: String, port: Int) { (self.address, self.port, isIPv6) = (address, port, address.contains(":")) }

    /// The IPv4 addresses of this machine.
    static var ofInterfaces: [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        return sequence(first: first) { $0?.pointee.ifa_next }.compactMap { $0?.pointee.ifa_addr }.compactMap {
            address in
            guard Int32(address.pointee.sa_family) == AF_INET else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
                var number = address.pointee.sin_addr
                return inet_ntop(AF_INET, &number, &text, socklen_t(text.count)).map { String(cString: $0) }
            }
        }
    }

    /// Whether a text is an IPv4 address of four decimal numbers.
    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }
}
