import CMicroHTTPD
package import Platform
import Synchronization

/// What a server does with requests.
package protocol Responder: Sendable {
    /// Decides on a request whose head has arrived, before its body is read. Runs on a thread of the server: it must not block.
    func admit(_ request: Request) -> Admission
    /// The response to a request whose body has no room beside those of others.
    var busy: Response { get }
    /// A connection was accepted.
    func didAccept()
}

extension Responder {
    package func didAccept() {}
}

package enum Admission: Sendable {
    /// The request is read, with a body of at most `limit` bytes, and answered; `above` makes the response to a larger body. Both run on a
    /// thread of the server: they must not block.
    case accept(limit: Int, above: @Sendable () -> Response, answer: @Sendable (Request) -> Answer)
    /// The response is sent. If the request has a body, that is not read, and the connection ends.
    case refuse(Response)
}

package enum Answer: Sendable {
    case now(Response)
    case later(@Sendable () async -> Response)
}

/// A server of HTTP/1.1 in cleartext, by libmicrohttpd: it reads requests, sends responses, and ends connections whose clients make no progress.
// because: `daemon` is libmicrohttpd's, whose functions that are called here may be called from any thread; the rest never changes.
package final class Server: @unchecked Sendable {
    /// The port it listens on.
    package let port: Int
    let responder: any Responder
    let rules: RequestRules
    let bodies: BodyMemory
    private let timeouts: ConnectionTimeouts
    private let watch: ConnectionWatch
    private let listening: Int32
    private var daemon: OpaquePointer?
    private let isClosed = Mutex(false)
    /// No further request is answered.
    var isEnding: Bool { isClosed.withLock { $0 } }

    /// Starts a server. It listens when this returns; `close()` ends it.
    /// - Parameters:
    ///   - host: The address or the name to listen on.
    ///   - port: 0 chooses a free one.
    ///   - hosts: The hosts whose URLs a request may name in absolute form.
    ///   - connections: How many it accepts at a time.
    ///   - threads: Two at least.
    package init(
        host: String, port: Int, hosts: AllowedHosts, timeouts: ConnectionTimeouts = ConnectionTimeouts(),
        connections: Int = ConnectionLimit.connections, threads: Int = 2, bodies: Int = 128 << 20,
        _ responder: any Responder
    ) throws(SocketAddress.Failure) {
        self.responder = responder
        self.timeouts = timeouts
        rules = RequestRules(hosts: hosts)
        self.bodies = BodyMemory(limit: bodies)
        watch = ConnectionWatch(timeouts)
        listening = try SocketAddress(host, port: port).listener()
        self.port = SocketAddress(localOf: listening)?.port ?? port
        // A server that is not closed lives as long as the process.
        let context = Unmanaged.passRetained(self)
        daemon = sleeve_start_daemon(
            MHD_USE_AUTO_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue, listening, UInt32(threads),
            UInt32(max(connections, threads)),
            64 << 10, Self.callbacks, context.toOpaque())
        guard daemon != nil else {
            // libmicrohttpd may have closed the socket.
            context.release()
            throw SocketAddress.Failure(
                reason: "libmicrohttpd cannot start; too few file descriptors or threads may be allowed")
        }
    }

    /// How many connections are open.
    package var openConnections: Int { watch.count }
    /// How many closed ones still linger.
    var lingeringConnections: Int { watch.lingeringCount }

    /// The server's root by one of its names or addresses: `http://127.0.0.1:8730/`.
    package func url(host: String) -> String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/" }

    /// An IPv4 address by which other machines may reach this one; nil if it has none.
    package static var externalAddress: String? { SocketAddress.ofInterfaces.first { !$0.hasPrefix("127.") } }

    /// Stops listening, and ends all connections, whatever they are doing.
    package func close() async {
        let mustClose = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard mustClose else { return }
        await WorkThread.run { [self] in
            // A process that has not executed its program yet has a copy of the socket, which would listen on.
            shutdown(listening, Int32(SHUT_RD))
            watch.endAll()
            MHD_stop_daemon(daemon)
            watch.close()
        }
        Unmanaged.passUnretained(self).release()
    }

    // MARK: libmicrohttpd's callbacks

    private static let callbacks = sleeve_callbacks(
        answer: { context, handle, _, method, version, bytes, count, exchange in
            let exchange = Unmanaged<Exchange>.fromOpaque(exchange!.pointee!).takeUnretainedValue()
            let piece = UnsafeRawBufferPointer(start: bytes, count: count!.pointee)
            count!.pointee = 0
            return exchange.proceed(
                handle!, method: String(cString: method!), version: String(cString: version!), piece)
        },
        end: { _, _, exchange, code in
            guard let pointer = exchange?.pointee else { return }
            exchange?.pointee = nil
            Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end(
                isComplete: code == .REQUEST_TERMINATED_COMPLETED_OK)
        },
        connection: { context, handle, connection, event in
            let server = Unmanaged<Server>.fromOpaque(context!).takeUnretainedValue()
            if event == .CONNECTION_NOTIFY_STARTED {
                connection?.pointee = Unmanaged.passRetained(server.accept(sleeve_socket(handle))).toOpaque()
            } else if let pointer = connection?.pointee {
                connection?.pointee = nil
                server.watch.remove(Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue())
            }
        },
        begin: { context, target, handle in
            let server = Unmanaged<Server>.fromOpaque(context!).takeUnretainedValue()
            let connection = Unmanaged<Connection>.fromOpaque(sleeve_socket_context(handle)).takeUnretainedValue()
            let exchange = Exchange(server, target: target.map { String(cString: $0) } ?? "", connection)
            // libmicrohttpd decodes the query into memory of the connection, which this program never uses. A thousand parameters exhaust that
            // memory, and 0.9.75 then sends no response.
            if let query = target.flatMap({ strchr(UnsafeMutablePointer(mutating: $0), Int32(UInt8(ascii: "?"))) }) {
                query[1] = 0
            }
            connection.state.withLock { $0.exchange = exchange }
            return Unmanaged.passRetained(exchange).toOpaque()
        },
        // The target is decoded where it is read.
        decode: { _, _, text in strlen(text!) })

    private func accept(_ socket: Int32) -> Connection {
        responder.didAccept()
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let connection = Connection(socket: socket, timeouts)
        watch.add(connection)
        return connection
    }
}

/// What the bodies of all requests of a server may hold together.
final class BodyMemory: Sendable {
    /// What one body holds of it.
    final class Share: Sendable {
        private let memory: BodyMemory
        private let count = Mutex(0)

        init(of memory: BodyMemory) { self.memory = memory }

        /// - Returns: false if there is no room.
        func add(_ count: Int) -> Bool {
            guard memory.add(count) else { return false }
            self.count.withLock { $0 += count }
            return true
        }

        deinit { memory.remove(count.withLock { $0 }) }
    }

    private let limit: Int
    private let used = Mutex(0)

    /// - Parameter limit: In bytes.
    init(limit: Int) { self.limit = limit }

    fileprivate func add(_ count: Int) -> Bool {
        used.withLock { used in
            guard used + count <= limit else { return false }
            used += count
            return true
        }
    }

    var inUse: Int { used.withLock { $0 } }

    fileprivate func remove(_ count: Int) { used.withLock { $0 -= count } }
}

/// How many connections a server accepts at a time.
package enum ConnectionLimit {
    /// Half of the descriptors that the process may have, at most 2,048: the others are for the cache and for transfers, which fail
    /// without them.
    package static var connections: Int { DescriptorLimit.current.map { min(2_048, $0 / 2) } ?? 128 }
}
