package import Platform

/// Sends HTTP requests through libcurl: HTTP/1.1 with keep-alive, HTTP/2 over TLS, the proxies of the environment.
///
/// Every request starts immediately. The caller decides how many are in flight. A redirect is a response: the caller follows it.
package actor HTTPClient {
    package nonisolated let loop: CurlEventLoop
    /// Sends the requests instead of libcurl; nil for libcurl.
    private let transport: Transport?
    var transportTasks = TransportTasks()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameter transport: sends all requests. The client still limits nothing.
    /// - Throws: `SystemError` if the process has no descriptor left.
    package init(configuration: HTTPClientConfiguration, transport: Transport? = nil) throws(SystemError) {
        self.transport = transport
        loop = try CurlEventLoop(configuration: configuration)
    }

    deinit { loop.shutdown() }

    /// Requests go through the proxies that the environment names.
    package nonisolated var usesProxies: Bool { transport == nil }

    /// Initializes libcurl, which the first client does otherwise.
    package static func initialize() { CurlMulti.initialize() }

    /// Identifies a transfer in flight.
    package struct Token: Sendable, Hashable {
        let transfer: Transfer.ID
    }

    /// Starts a transfer. `completion` is called once, on the event loop, and never from within this call.
    /// - Returns: nil after the client was shut down; `completion` is then called with the error `cancelled`.
    @discardableResult
    package func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Token? {
        let token: Token?
        if let transport {
            token = start(request, through: transport, completion: completion)
        } else {
            token = loop.start(request, completion: completion).map { Token(transfer: $0) }
        }
        guard let token else {
            let error = TransferError(.cancelled, url: request.url.string, detail: "the client was shut down")
            Task { self.complete(completion, error) }
            return nil
        }
        return token
    }

    private func complete(_ completion: Transfer.Completion, _ error: TransferError) { completion(.failure(error)) }

    /// Cancels a transfer without calling its completion. Does nothing if the transfer has ended.
    package func cancel(_ token: Token) {
        if transport == nil { loop.cancel(token.transfer) } else { transportTasks.remove(token.transfer)?.cancel() }
    }

    /// Cancels every transfer, and ends the event loop.
    package func shutdown() {
        transportTasks.close()
        loop.shutdown()
    }

    /// Sends a request and waits for its response. Cancelling the task cancels the transfer.
    package func response(for request: TransferRequest) async throws(TransferError) -> TransferResponse {
        if !Task.isCancelled {
            let (results, continuation) = AsyncStream.makeStream(of: Result<TransferResponse, TransferError>.self)
            let token = start(request) { continuation.yield($0) }
            for await result in results { return try result.get() }
            // The stream ends without a result if the task is cancelled.
            if let token { cancel(token) }
        }
        throw TransferError(.cancelled, url: request.url.string, detail: "cancelled")
    }
}
