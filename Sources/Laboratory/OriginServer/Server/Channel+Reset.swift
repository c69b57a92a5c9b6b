import NIOCore

extension Channel {
    /// Closes the connection with RST instead of FIN.
    func reset() {
        guard let socket = self as? any SocketOptionProvider else { return close(promise: nil) }
        // Closing a socket that lingers for zero seconds sends RST. The C library's `struct linger` has two `int`; it cannot be
        // imported under one name on all systems.
        socket.unsafeSetSocketOption(level: .socket, name: .so_linger, value: SIMD2<CInt>(1, 0)).whenComplete { _ in
            self.close(promise: nil)
        }
    }
}
