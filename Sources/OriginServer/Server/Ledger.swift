import NIOCore
import NIOPosix
import Synchronization

/// What an origin knows about its connections and requests. Counting is lock-free: it happens for every request.
final class Ledger: Sendable {
    let requests = Atomic(0)
    let connections = Atomic(0)
    let peakInFlight = Atomic(0)
    /// Answered 429, as more were in flight than allowed.
    let overruns = Atomic(0)
    /// Answers that were a part of a body (206).
    let parts = Atomic(0)
    /// What all bodies go through, where they share a line.
    let line: Line?
    /// The library that edits are posted to.
    let albums = AlbumShelf()
    /// What answers that are held wait for.
    let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    private let inFlight = Atomic(0)
    private let countsPaths: Bool
    private let paths = Mutex<[String: Int]>([:])
    private let attempts = Mutex<[String: Int]>([:])
    private let open = Mutex(Open())

    private struct Open {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: Connection] = [:]
        var isClosed = false
    }

    init(_ options: OriginOptions) {
        countsPaths = options.countPaths
        line = options.totalBytesPerSecond.map { Line(bytesPerSecond: $0) }
    }

    deinit { gate.succeed() }

    // MARK: Requests

    /// A request has begun. Gives back its number, from 1.
    func begin(path: Substring) -> Int {
        peakInFlight.max(inFlight.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        if countsPaths { paths.withLock { $0[String(path), default: 0] += 1 } }
        return requests.add(1, ordering: .relaxed).newValue
    }

    /// A request's response is written, or will never be.
    func end() { inFlight.subtract(1, ordering: .relaxed) }

    /// In flight now.
    var load: Int { inFlight.load(ordering: .relaxed) }

    func requestCount(path: String) -> Int { paths.withLock { $0[path, default: 0] } }

    /// Counts requests for `target` (path and query): 1 for the first. Only those with `times=` are counted.
    func attempt(_ target: String) -> Int {
        attempts.withLock {
            $0[target, default: 0] += 1
            return $0[target, default: 0]
        }
    }

    // MARK: Connections

    /// Keeps the listening socket, for `close()`.
    func listen(_ channel: any Channel) { open.withLock { $0.listener = channel } }

    /// Keeps a connection, for `closeConnections()`. One that comes when the origin has stopped is closed at once.
    func add(_ connection: Connection) {
        connections.add(1, ordering: .relaxed)
        let isClosed = open.withLock {
            $0.connections[ObjectIdentifier(connection.channel)] = connection
            return $0.isClosed
        }
        if isClosed { connection.close() }
    }

    func remove(_ connection: Connection) {
        open.withLock { $0.connections[ObjectIdentifier(connection.channel)] = nil }
    }

    var openConnectionCount: Int { open.withLock { $0.connections.count } }

    /// Stops listening and closes all connections. Gives back when the listener is closed; nil: it was already.
    @discardableResult
    func close() -> EventLoopFuture<Void>? {
        let listener = open.withLock { open in
            open.isClosed = true
            return open.listener.take()
        }
        for connection in connectionsNow { connection.close() }
        return listener?.close()
    }

    /// Returns when every connection is closed and removed; to be called when no new one can come.
    func untilEmpty() async {
        for connection in connectionsNow {
            connection.close()
            try? await connection.channel.closeFuture.get()
        }
    }

    private var connectionsNow: [Connection] { open.withLock { Array($0.connections.values) } }
}
