package import Platform

/// One request in, one response out: HTTP/1.1 with keep-alive, HTTP/2 over TLS, redirects, the proxies of the environment. By way
/// of libcurl, or past it where nothing of it is needed (`PlainHTTP`). Every request is started at once: how many are in flight
/// is the caller's to decide.
package actor HTTPClient {
    package nonisolated let loop: CurlEventLoop

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Throws: `SystemError`: no descriptor is left.
    package init(configuration: HTTPClientConfiguration) throws(SystemError) {
        loop = try CurlEventLoop(configuration: configuration)
    }

    deinit { loop.shutdown() }

    /// What `cancel` takes: one use of one transfer.
    package struct Token: Sendable {
        /// Nil: it is libcurl's.
        var exchange: PlainExchange?
        var transfer: (transfer: Transfer, use: Int)?
    }

    /// Starts a transfer. `completion` is called on the event loop, once, and never from within this call.
    package func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Token {
        if let exchange = loop.startPlain(request, completion: completion) { return Token(exchange: exchange) }
        guard let transfer = loop.start(request, completion: completion) else {
            let error = TransferError(.cancelled, url: request.url.string, detail: "the client was shut down")
            Task { self.tell(completion, error) }
            return Token()
        }
        return Token(transfer: (transfer, transfer.use))
    }

    /// On the event loop, as every completion.
    private func tell(_ completion: Transfer.Completion, _ error: TransferError) { completion(.failure(error)) }

    /// The transfer's completion is not called any more. Does nothing when it has ended already.
    package func cancel(_ token: Token) {
        if let exchange = token.exchange, exchange.transfer == nil { return loop.cancel(exchange) }
        guard let transfer = underWay(token) else { return }
        transfer.drop()
        loop.remove(transfer)
    }

    /// Sends the requests of a pipeline; what becomes of them is told `taker`, never from within this call.
    package func start(_ pipeline: Pipeline, for taker: any PipelineTaker) -> PipelineStart {
        loop.start(pipeline, for: taker)
    }

    /// What has no response gets none; the pipeline ends.
    package func cancel(_ pipeline: Pipeline) { loop.cancel(pipeline) }

    /// Starts a relayed request whose response comes through `pipe`.
    package func start(_ request: TransferRequest, into pipe: BodyPipe) {
        var request = request
        request.relay?.pipe = pipe
        let token = start(request) { pipe.end($0) }
        pipe.set { [weak self] goesOn in
            Task { [weak self] in await (goesOn ? self?.resume(token) : self?.cancel(token)) }
        }
    }

    /// Goes on with a transfer whose pipe was full.
    private func resume(_ token: Token) {
        underWay(token)?.resume()
    }

    /// libcurl's, unless it has ended.
    private func underWay(_ token: Token) -> Transfer? {
        guard let (transfer, use) = token.transfer ?? token.exchange?.transfer, transfer.use == use else { return nil }
        return transfer
    }

    /// `start`, for callers that wait. Cancelling the task cancels the transfer.
    /// - Throws: `TransferError`.
    package func response(for request: TransferRequest) async throws -> TransferResponse {
        let pending = PendingResponse()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                pending.continuation = continuation
                guard !Task.isCancelled else {
                    pending.resume(.failure(TransferError(.cancelled, url: request.url.string, detail: "cancelled")))
                    return
                }
                pending.token = start(request) { result in pending.resume(result.mapError { $0 }) }
            }
        } onCancel: {
            Task { await self.cancelPending(pending, request.url.string) }
        }
    }

    private func cancelPending(_ pending: PendingResponse, _ url: String) {
        pending.resume(.failure(TransferError(.cancelled, url: url, detail: "cancelled")))
        if let token = pending.token { cancel(token) }
    }
}

/// A waiting caller, resumed once by whichever comes first: the response or its cancellation.
// because: touched on the event loop alone.
private final class PendingResponse: @unchecked Sendable {
    var continuation: CheckedContinuation<TransferResponse, any Error>?
    var token: HTTPClient.Token?

    func resume(_ result: Result<TransferResponse, any Error>) { continuation.take()?.resume(with: result) }
}
