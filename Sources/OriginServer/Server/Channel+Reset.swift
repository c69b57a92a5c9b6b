import NIOCore
import NIOSSL

/// The C library's `struct linger`. It cannot be imported under one name on all systems.
private struct Linger {
    var isOn: CInt = 1
    var seconds: CInt = 0
}

extension Channel {
    /// Closes the channel; a socket sends RST instead of FIN.
    func reset() {
        guard let options = self as? any SocketOptionProvider else { return close(promise: nil) }
        // Closing a socket that lingers for zero seconds sends RST.
        options.unsafeSetSocketOption(level: .socket, name: .so_linger, value: Linger()).whenComplete { _ in
            // TLS would first exchange its own end.
            let tls = try? self.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            if let tls { tls.close(promise: nil) } else { self.close(promise: nil) }
        }
    }
}
