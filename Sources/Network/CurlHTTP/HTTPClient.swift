package import Platform

/// Sends HTTP requests through libcurl: HTTP/1.1 with keep-alive, HTTP/2 over TLS, the proxies of the environment.
///
/// Every request starts immediately. The caller decides how many are in flight. A redirect is a response: the caller follows it.
package actor HTTPClient {
    package nonisolated let loop: CurlEventLoop
    /// Sends the requests instead of libcurl; nil for libcurl.
    private let transport: Transport?
    /// The longest that a transport may take for a request.
    private let timeout: Duration
    /// The tasks of the transport's transfers in flight; nil after `shutdown`.
    private var tasks: [Transfer.ID: [Task<Void, Never>]]? = [:]
    private var lastID: Transfer.ID = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameter transport: sends all requests. The client still limits nothing.
    /// - Throws: `SystemError` if the process has no descriptor left.
    package init(configuration: HTTPClientConfiguration, transport: Transport? = nil) throws(SystemError) {
        (self.transport, timeout) = (transport, configuration.timeout)
        loop = try CurlEventLoop(configuration: configuration)
    }

    deinit { loop.shutdown() }

    /// Initializes libcurl, which the first client does otherwise.
    package static func initialize() { CurlMulti.initialize() }

    /// Starts a transfer. `completion` is called once, on the event loop, and never from within this call.
    /// - Returns: nil after the client was shut down; `completion` is then called with the error `cancelled`.
    @discardableResult
    package func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Transfer.ID? {
        let id =
            if let transport {
                send(request, through: transport, completion)
            } else {
                loop.multi?.start(request, completion: completion)
            }
        if id == nil {
            let error = TransferError(.cancelled, url: request.url.string, detail: "the client was shut down")
            Task { self.complete(completion, error) }
        }
        return id
    }

    private func complete(_ completion: Transfer.Completion, _ error: TransferError) { completion(.failure(error)) }

    /// Cancels a transfer without calling its completion. Does nothing if the transfer has ended.
    package func cancel(_ id: Transfer.ID) {
        if transport == nil { _ = loop.multi?.remove(id)?.cancel() } else { _ = end(id) }
    }

    /// Cancels every transfer, and ends the event loop.
    package func shutdown() {
        for id in Array((tasks ?? [:]).keys) { _ = end(id) }
        tasks = nil
        loop.shutdown()
    }

    /// Sends a request and waits for its response. Cancelling the task cancels the transfer.
    package func response(for request: TransferRequest) async throws(TransferError) -> TransferResponse {
        if !Task.isCancelled {
            let (results, continuation) = AsyncStream.makeStream(of: Result<TransferResponse, TransferError>.self)
            let id = start(request) { continuation.yield($0) }
            for await result in results { return try result.get() }
            // The stream ends without a result if the task is cancelled.
            if let id { cancel(id) }
        }
        throw TransferError(.cancelled, url: request.url.string, detail: "cancelled")
    }
}

/// Settings of every transfer of a client.
package struct HTTPClientConfiguration: Sendable {
    package var userAgent: String
    /// The longest a transfer may take. One whose body arrives at a rate at which the whole body would arrive in four times as long may take that.
    package var timeout: Duration = .seconds(60)
    /// From the start of the look-up, or from its end if it took more than half of this. In the latter case libcurl may notice it as late as
    /// `timeout`.
    package var connectTimeout: Duration = .seconds(15)
    /// The longest look-up of a name, if that is more than `connectTimeout`. glibc asks for both families, and waits 15 s where a router
    /// answers for one only.
    package var lookUpTimeout: Duration = .seconds(30)
    /// A transfer times out that is slower than this number of bytes a second for `lowSpeedTime` seconds.
    package var lowSpeedLimit = 64
    package var lowSpeedTime = 30
    /// The longest body that is accepted, in bytes.
    package var maximumBodySize = 32 << 20
    /// The length that all bodies may have together, in bytes, those that wait to be stored included, while `CurlEventLoop.hasRoom`.
    package var bodyMemory = 256 << 20
    /// The maximum length of all heads of a transfer together, in bytes: of trailers and 1xx responses too.
    package var maximumHeadSize = 300 << 10
    /// Connect to public addresses only. With a proxy, this is about the proxy's address.
    package var deniesPrivateAddresses = false
    /// Connect to addresses of this family only; nil for either.
    package var addressFamily: AddressFamily?
    /// Speak HTTP/1.1 over TLS, too.
    package var isHTTP1 = false
    /// The path of a PEM file with the certificate authorities to trust instead of the system's.
    package var certificateAuthorities: String?
    /// The path of a directory with such files, named by hashes as `openssl rehash` does.
    package var certificateDirectory: String?
    /// Maximum number of idle connections, of all hosts together.
    package var maximumConnections = 64

    package init(userAgent: String) { self.userAgent = userAgent }
}

/// A version of the Internet Protocol.
package enum AddressFamily: Sendable {
    case v4, v6

    package var other: AddressFamily { self == .v4 ? .v6 : .v4 }
}

/// Requests that something else than libcurl sends.
extension HTTPClient {
    /// Sends a request and returns its response.
    package typealias Transport = @Sendable (TransferRequest) async -> Result<TransferResponse, TransferError>

    /// Returns nil after `shutdown`.
    private func send(
        _ request: TransferRequest, through transport: @escaping Transport, _ completion: @escaping Transfer.Completion
    ) -> Transfer.ID? {
        if tasks == nil { return nil }
        lastID += 1
        let id = lastID
        let answer = Task {
            let result = await transport(request)
            if end(id) { completion(result) }
        }
        let timer = Task {
            guard (try? await Task.sleep(for: timeout)) != nil, end(id) else { return }
            let detail = "no response within \(timeout.inMilliseconds) ms"
            completion(.failure(TransferError(.timeout, url: request.url.requestURL, detail: detail)))
        }
        tasks?[id] = [answer, timer]
        return id
    }

    /// Cancels what is left of a transport's transfer. - Returns: false if it has ended before.
    private func end(_ id: Transfer.ID) -> Bool {
        guard let ended = tasks?.removeValue(forKey: id) else { return false }
        for task in ended { task.cancel() }
        return true
    }
}
