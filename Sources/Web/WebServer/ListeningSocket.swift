import Platform

/// The reason why a server cannot listen.
package struct ListenError: Error, Sendable {
    package let reason: String
}

/// A socket that accepts connections.
enum ListeningSocket {
    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif

    /// - Parameters:
    ///   - host: An address or a name.
    ///   - port: 0 chooses a free one.
    static func open(host: String, port: Int) throws(ListenError) -> Int32 {
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (stream, AI_PASSIVE | AI_NUMERICSERV)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0, let found else { throw ListenError(reason: String(cString: gai_strerror(code))) }
        let descriptor = socket(found.pointee.ai_family, stream, found.pointee.ai_protocol)
        guard descriptor >= 0 else { throw ListenError(reason: SystemError("socket").reason) }
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
            bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(descriptor, 4_096) == 0
        else {
            let error = SystemError("listen")
            close(descriptor)
            throw ListenError(reason: error.reason)
        }
        return descriptor
    }
}

/// Ends a connection with RST.
func reset(_ socket: Int32) {
    var wait = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &wait, socklen_t(MemoryLayout<linger>.size))
    // Linux sends RST now; elsewhere the close does, unless the connection has been shut down before (connect(2)).
    var none = sockaddr()
    none.sa_family = sa_family_t(AF_UNSPEC)
    connect(socket, &none, socklen_t(MemoryLayout<sockaddr>.size))
}
