import Platform

/// The address and the port of a TCP socket, over IPv4 or IPv6.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// The first address of a name, or an IP address; nil if there is none. Blocks.
    init?(_ host: String, port: Int) {
        var hints = addrinfo()
        hints.ai_socktype = Self.stream
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        length = found.pointee.ai_addrlen
        memcpy(&storage, found.pointee.ai_addr, Int(length))
    }

    /// Returns a socket that listens.
    func listen() throws(SystemError) -> Int32 {
        try makeSocket("listen") { socket, address in
            Self.setOption(SO_REUSEADDR, to: Int32(1), on: socket)
            return bind(socket, address, length) == 0 && Platform.listen(socket, SOMAXCONN) == 0
        }
    }

    /// Returns a socket that connects; it is writable when it has.
    func connect() throws(SystemError) -> Int32 {
        try makeSocket("connect") { Platform.connect($0, $1, length) == 0 || errno == EINPROGRESS }
    }

    /// The port of a socket over IPv4.
    static func port(of socket: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Makes no call on a socket wait, and sends what is written at once.
    static func prepare(_ socket: Int32) {
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        setOption(TCP_NODELAY, of: Int32(IPPROTO_TCP), to: Int32(1), on: socket)
        #if canImport(Darwin)
            // Its signal goes to the process, not to the thread that writes.
            setOption(SO_NOSIGPIPE, to: Int32(1), on: socket)
        #endif
    }

    static func setOption<Value>(_ name: Int32, of level: Int32 = SOL_SOCKET, to value: Value, on socket: Int32) {
        withUnsafeBytes(of: value) { _ = setsockopt(socket, level, name, $0.baseAddress, socklen_t($0.count)) }
    }

    private func makeSocket(
        _ call: String, _ body: (Int32, UnsafePointer<sockaddr>) -> Bool
    ) throws(SystemError) -> Int32 {
        let socket = Platform.socket(Int32(storage.ss_family), Self.stream, 0)
        if socket < 0 { throw SystemError("socket") }
        Self.prepare(socket)
        let hasSucceeded = withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(socket, $0) }
        }
        if hasSucceeded { return socket }
        let error = SystemError(call)
        close(socket)
        throw error
    }
}
