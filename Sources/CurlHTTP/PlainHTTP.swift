#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// HTTP/1.1 without TLS, spoken by ourselves: for a request that needs nothing of what libcurl can do besides, that takes a
/// third of the time libcurl needs.
///
/// It knows a server once libcurl has met it, and reads what it is sure of. All else goes to libcurl, from the beginning:
/// names to look up, proxies, redirects to be followed, bodies of unknown length, anything out of order. A GET may be sent twice
/// (RFC 9110 section 9.2.2), and servers whose answers are often unusual are left to libcurl. On the event loop alone.
final class PlainHTTP {
    private let configuration: HTTPClientConfiguration
    private let multi: CurlMulti
    private let handOver: (PlainExchange) -> Void
    private let hasProxy: Bool
    private var origins: [Substring: PlainOrigin] = [:]
    /// By their sockets' numbers, which the kernel keeps small.
    private var connections: [PlainConnection?] = []
    private var unsent: [PlainConnection] = []
    private var idle = 0
    /// When something may have taken too long.
    private(set) var deadline: ContinuousClock.Instant?
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// For how long a name leads to the same address, as for libcurl.
    private static let addressPatience = Duration.seconds(60)
    /// Servers close connections that were idle for long, at the very moment they are used again.
    private static let idlePatience = Duration.seconds(100)

    /// - Parameters:
    ///   - multi: tells of sockets.
    ///   - handOver: starts an exchange anew with libcurl.
    init(_ configuration: HTTPClientConfiguration, _ multi: CurlMulti, handOver: @escaping (PlainExchange) -> Void) {
        self.configuration = configuration
        self.multi = multi
        self.handOver = handOver
        hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
    }

    deinit { scratch.deallocate() }

    // MARK: Requests

    /// Nil: it is libcurl's.
    func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> PlainExchange? {
        guard let origin = origin(of: request) else { return nil }
        let exchange = PlainExchange(request, configuration, completion: completion)
        send(exchange, to: origin, anew: false)
        return exchange
    }

    /// libcurl has had a response from `url` at this numeric address, in HTTP/1.1, without a redirect.
    func met(_ url: HTTPURL, at address: String) {
        let known = origins[url.origin]
        guard !hasProxy, known?.address.host != address, let address = PlainAddress(host: address, port: url.port)
        else {
            return
        }
        if configuration.deniesPrivateAddresses, address.isPrivate { return }
        for connection in known?.idle ?? [] { close(connection) }
        origins[Substring(String(url.origin))] = PlainOrigin(
            url, address, until: .now + Self.addressPatience, userAgent: configuration.userAgent)
    }

    /// Whether the server's next request will be sent from here, so that libcurl's connection would lie about unused.
    func takesNext(after request: TransferRequest) -> Bool {
        canTake(request) && !request.followsRedirects && origins[request.url.origin]?.isUsual != false
    }

    private func canTake(_ request: TransferRequest) -> Bool {
        !hasProxy && !request.url.isHTTPS && request.relay == nil && request.postedJSON == nil
    }

    /// Nil: unknown as yet, or libcurl's.
    private func origin(of request: TransferRequest) -> PlainOrigin? {
        guard canTake(request), request.continuing == nil, let origin = origins[request.url.origin], origin.isUsual
        else { return nil }
        let now = ContinuousClock.now
        guard origin.isOutdated(at: now) else { return origin }
        // One request of libcurl's finds out whether the name leads elsewhere by now.
        origin.isLookedUp(until: now + Self.addressPatience)
        return nil
    }

    /// - Parameter anew: over a new connection.
    private func send(_ exchange: PlainExchange, to origin: PlainOrigin, anew: Bool) {
        guard let connection = (anew ? nil : idleConnection(origin)) ?? open(origin) else {
            return leave(exchange, of: origin)
        }
        connection.begin(exchange)
        startSending(on: connection)
        look(at: connection, exchange.nextCheck)
    }

    /// At once, so that the server works while the next request is being written. What does not go out is seen to later:
    /// nothing ends from within a start.
    private func startSending(on connection: PlainConnection) {
        if !connection.isConnecting, connection.send() == .done {
            multi.watch(.read, on: connection.socket)
        } else {
            unsent.append(connection)
        }
    }

    func start(_ pipeline: Pipeline, for taker: any PipelineTaker) -> PipelineStart {
        guard let origin = origins[pipeline.requests.origin] else { return .unknown }
        if !origin.isUsual { return .refused }
        // Where the name is to be looked up, a request by itself does that.
        guard !origin.isOutdated(at: .now), let connection = idleConnection(origin) ?? open(origin) else {
            return .unknown
        }
        connection.begin(pipeline, taker)
        startSending(on: connection)
        look(at: connection, pipeline.deadline(patience: patience))
        return .started
    }

    /// Leaves it to libcurl.
    private func leave(_ exchange: PlainExchange, of origin: PlainOrigin) {
        origin.wasUnusual()
        if exchange.completion != nil { handOver(exchange) }
    }

    func cancel(_ exchange: PlainExchange) {
        exchange.drop()
        if let connection = exchange.connection { close(connection) }
    }

    /// What has no answer gets none; its taker is told.
    func cancel(_ pipeline: Pipeline) {
        guard let connection = pipeline.connection, let exchange = close(connection) else { return }
        // It goes on by itself.
        leave(exchange, of: connection.origin)
    }

    /// Closes all connections. - Returns: what was under way.
    func removeAll() -> [PlainExchange] { connections.compactMap { $0.flatMap { close($0) } } }

    // MARK: Connections

    private func open(_ origin: PlainOrigin) -> PlainConnection? {
        guard let connection = PlainConnection(origin, timeout: configuration.connectTimeout) else { return nil }
        let index = Int(connection.socket)
        while connections.count <= index { connections.append(nil) }
        connections[index] = connection
        return connection
    }

    /// - Returns: what was under way on it.
    @discardableResult
    private func close(_ connection: PlainConnection) -> PlainExchange? {
        multi.forget(connection.socket)
        connections[Int(connection.socket)] = nil
        connection.close()
        defer { end(connection.releasePipeline(), connection.origin) }
        let before = connection.origin.idle.count
        connection.origin.idle.removeAll { $0 === connection }
        idle -= before - connection.origin.idle.count
        return connection.release()
    }

    private func idleConnection(_ origin: PlainOrigin) -> PlainConnection? {
        guard let connection = origin.idle.popLast() else { return nil }
        idle -= 1
        if connection.idleSince + Self.idlePatience > .now, connection.isQuiet { return connection }
        close(connection)
        return nil
    }

    private func rest(_ connection: PlainConnection) {
        connection.origin.idle.append(connection)
        idle += 1
        guard idle > configuration.maximumConnections else { return }
        let resting = connections.lazy.compactMap(\.self).filter(\.isIdle)
        if let oldest = resting.min(by: { $0.idleSince < $1.idleSince }) { close(oldest) }
    }

    /// The connection is no more; what was under way on it begins again, if nothing had come of it.
    private func lose(_ connection: PlainConnection, _ loss: PlainConnection.Loss) {
        guard let exchange = close(connection) else { return }
        if exchange.hasHead {
            exchange.end(.failure(exchange.truncated()))
        } else if loss == .closed, connection.hasAnswered {
            // It was closed while the request was on its way, as happens to connections that were idle.
            send(exchange, to: connection.origin, anew: true)
        } else {
            leave(exchange, of: connection.origin)
        }
    }

    // MARK: The event loop

    /// Sees to the requests that could not be sent when they were started. True: some were lost, and somebody was told.
    func flush() -> Bool {
        var hasLost = false
        // What is lost meanwhile is sent again.
        while let connection = unsent.popLast() {
            send(on: connection)
            if connections[Int(connection.socket)] !== connection { hasLost = true }
        }
        return hasLost
    }

    private func send(on connection: PlainConnection) {
        guard connections[Int(connection.socket)] === connection else { return }
        switch connection.send() {
        case .done: multi.watch(.read, on: connection.socket)
        case .blocked: multi.watch(connection.isConnecting ? .write : [.read, .write], on: connection.socket)
        case .lost: lose(connection, .closed)
        }
    }

    /// False: the socket is none of these.
    func act(on event: Poller.Event) -> Bool {
        let index = Int(event.socket)
        guard index < connections.count, let connection = connections[index] else { return false }
        if event.ready.contains(.write) || connection.isConnecting { send(on: connection) }
        if event.ready.contains(.read) || event.failed { receive(on: connection) }
        return true
    }

    private func receive(on connection: PlainConnection) {
        guard connections[Int(connection.socket)] === connection, !connection.isConnecting else { return }
        if connection.pipeline != nil { return advance(connection) }
        switch connection.receive(scratch, limit: configuration.maximumBodySize) {
        case .waiting: break
        case .lost(let loss): lose(connection, loss)
        case .whole:
            let canGoOn = connection.canGoOn
            guard let exchange = connection.release() else { return }
            if canGoOn { rest(connection) } else { close(connection) }
            connection.origin.answered()
            exchange.end(.success(exchange.response()))
        }
    }

    private func advance(_ connection: PlainConnection) {
        while let pipeline = connection.pipeline {
            switch connection.advance(scratch, limit: configuration.maximumBodySize) {
            case .waiting: return
            case .lost(let loss): lose(connection, loss)
            case .differs:
                guard let exchange = pipeline.takeOut(configuration, began: .now) else {
                    close(connection)
                    return
                }
                connection.take(exchange)
                look(at: connection, exchange.nextCheck)
            case .whole:
                let canGoOn = connection.canGoOn
                guard let exchange = connection.release() else { return }
                if !canGoOn {
                    pipeline.isCutShort = true
                    close(connection)
                } else if pipeline.isAnswered, connection.pending.isEmpty {
                    finish(connection)
                }
                connection.origin.answered()
                exchange.end(.success(exchange.response()))
            case .finished: finish(connection)
            }
        }
    }

    /// All of the connection's pipeline is answered.
    private func finish(_ connection: PlainConnection) {
        let pipeline = connection.releasePipeline()
        rest(connection)
        end(pipeline, connection.origin)
    }

    private func end(_ pipeline: Pipeline?, _ origin: PlainOrigin) {
        guard let pipeline else { return }
        origin.answered(pipeline.stood.count)
        pipeline.end()
    }

    /// How long a pipeline waits for its next response.
    private var patience: Duration { min(configuration.timeout, .seconds(configuration.lowSpeedTime)) }

    /// Ends what has taken too long.
    func check() {
        let now = ContinuousClock.now
        guard let due = deadline, due <= now else { return }
        deadline = nil
        for connection in connections {
            guard let connection, !connection.isIdle else { continue }
            let isLate = connection.isLate(at: now)
            guard let exchange = connection.exchange ?? overdue(connection, isLate: isLate, now) else {
                if let pipeline = connection.pipeline { look(at: connection, pipeline.deadline(patience: patience)) }
                continue
            }
            if let error = isLate ? exchange.connectTimeout : exchange.timedOut(at: now) {
                close(connection)
                // The next request may be sent to another of the name's addresses.
                if isLate { origins[exchange.request.url.origin] = nil }
                exchange.end(.failure(error))
            } else {
                look(at: connection, exchange.nextCheck)
            }
        }
    }

    /// The request whose response the pipeline has waited for too long; nil: it has not.
    private func overdue(
        _ connection: PlainConnection, isLate: Bool, _ now: ContinuousClock.Instant
    ) -> PlainExchange? {
        guard let pipeline = connection.pipeline, isLate || pipeline.deadline(patience: patience) <= now else {
            return nil
        }
        return pipeline.takeOut(configuration, began: pipeline.heard)
    }

    /// Sees to it that `check` is called when something may have taken too long.
    /// - Parameter time: when what is under way has, once it is connected.
    private func look(at connection: PlainConnection, _ time: ContinuousClock.Instant) {
        let next = connection.isConnecting ? min(connection.connectDeadline, time) : time
        deadline = min(next, deadline ?? next)
    }
}
