/// The address and the port of a TCP socket, over IPv4 or IPv6.
package struct SocketAddress: Sendable {
    /// Why there is no address, or no socket.
    package struct Failure: Error {
        package var reason: String

        package init(reason: String) { self.reason = reason }
    }

    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// The first address of a name, or an IP address. Blocks.
    package init(_ host: String, port: Int) throws(Failure) {
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (Self.stream, AI_NUMERICSERV)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let found else { throw Failure(reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(found) }
        length = found.pointee.ai_addrlen
        memcpy(&storage, found.pointee.ai_addr, Int(length))
    }

    /// The address of this end of a socket; nil if it has none.
    package init?(localOf descriptor: Int32) { self.init(of: descriptor, getsockname) }

    /// The address of the other end of a socket; nil if it is not connected.
    package init?(peerOf descriptor: Int32) { self.init(of: descriptor, getpeername) }

    private init?(
        of descriptor: Int32,
        _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var length = length
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(descriptor, $0, &length) }
        }
        if code != 0 { return nil }
        self.length = length
    }

    // MARK: Texts

    /// In its usual form, without brackets, and without the interface of a link-local one.
    package var address: String { String(numbers.address.prefix { $0 != "%" }) }
    package var port: Int { numbers.port }
    package var isIPv6: Bool { Int32(storage.ss_family) == AF_INET6 }

    /// As in a `Host` field.
    package var authority: String { isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }

    private var numbers: (address: String, port: Int) {
        var (text, service) = ([CChar](repeating: 0, count: Int(NI_MAXHOST)), [CChar](repeating: 0, count: 32))
        _ = withAddress {
            getnameinfo(
                $0, length, &text, socklen_t(text.count), &service, socklen_t(service.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        func string(_ text: [CChar]) -> String {
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        }
        return (string(text), Int(string(service)) ?? 0)
    }

    private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafePointer(to: storage) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }

    // MARK: Sockets

    /// Returns a socket that listens; no call on it waits.
    package func listener() throws(Failure) -> Int32 {
        try open { descriptor in
            Self.setOption(SO_REUSEADDR, to: Int32(1), on: descriptor)
            return withAddress { bind(descriptor, $0, length) } == 0 && listen(descriptor, 4_096) == 0
        }
    }

    /// Returns a socket that connects; it is writable when it has.
    package func connection() throws(Failure) -> Int32 {
        try open { descriptor in
            Self.prepare(descriptor)
            return withAddress { connect(descriptor, $0, length) } == 0 || errno == EINPROGRESS
        }
    }

    private func open(_ body: (Int32) -> Bool) throws(Failure) -> Int32 {
        let descriptor = socket(Int32(storage.ss_family), Self.stream, 0)
        if descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
            body(descriptor)
        {
            return descriptor
        }
        let error = SystemError("socket")
        if descriptor >= 0 { close(descriptor) }
        throw Failure(reason: error.reason)
    }

    /// Makes no call on a socket wait, and sends what is written at once.
    package static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setOption(TCP_NODELAY, of: Int32(IPPROTO_TCP), to: Int32(1), on: descriptor)
        #if canImport(Darwin)
            // Its signal goes to the process, not to the thread that writes.
            setOption(SO_NOSIGPIPE, to: Int32(1), on: descriptor)
        #endif
    }

    /// Ends a connection with RST.
    package static func reset(_ descriptor: Int32) {
        setOption(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0), on: descriptor)
        // Linux sends RST now; elsewhere the close does, unless the connection has been shut down before (connect(2)).
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        connect(descriptor, &none, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private static func setOption<Value>(
        _ name: Int32, of level: Int32 = SOL_SOCKET, to value: Value, on descriptor: Int32
    ) {
        withUnsafeBytes(of: value) { _ = setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count)) }
    }

    // MARK: Addresses

    /// The IPv4 addresses of this machine.
    package static var ofInterfaces: [String] {
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

    /// The 4 or 16 bytes of an IP address, in network order; nil for another text. An IPv4 address has four decimal numbers.
    package static func bytes(of text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    package static func isIPv4(_ text: String) -> Bool { bytes(of: text)?.count == 4 }
    package static func isIPv6(_ text: String) -> Bool { bytes(of: text)?.count == 16 }
}
