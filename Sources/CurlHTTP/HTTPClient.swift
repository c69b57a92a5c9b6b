package import Platform

/// Sends HTTP requests through libcurl: HTTP/1.1 with keep-alive, HTTP/2 over TLS, the proxies of the environment.
///
/// Every request starts at once. The caller decides how many are in flight.
package actor HTTPClient {
    package nonisolated let loop: CurlEventLoop

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Throws: `SystemError`: no descriptor is left.
    package init(configuration: HTTPClientConfiguration) throws(SystemError) {
        loop = try CurlEventLoop(configuration: configuration)
    }

    deinit { loop.shutdown() }

    /// Identifies one transfer. Handles are reused, so a token counts the handle's uses.
    package struct Token: Sendable {
        let transfer: Transfer
        let use: Int
    }

    /// Starts a transfer. `completion` is called once, on the event loop, and never from within this call.
    /// - Returns: nil after the client was shut down; `completion` is then called with the error `cancelled`.
    @discardableResult
    package func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Token? {
        guard let transfer = loop.start(request, completion: completion) else {
            let error = TransferError(.cancelled, url: request.url.string, detail: "the client was shut down")
            Task { self.complete(completion, error) }
            return nil
        }
        return Token(transfer: transfer, use: transfer.use)
    }

    private func complete(_ completion: Transfer.Completion, _ error: TransferError) { completion(.failure(error)) }

    /// Cancels a transfer: its completion is not called. Does nothing if the transfer has ended.
    package func cancel(_ token: Token) {
        guard let transfer = inFlight(token) else { return }
        transfer.drop()
        loop.remove(transfer)
    }

    /// Starts a relayed request whose response is delivered through `pipe`.
    package func start(_ request: TransferRequest, into pipe: BodyPipe) {
        var request = request
        request.relay?.pipe = pipe
        guard let token = start(request, completion: { pipe.end($0) }) else { return }
        pipe.set { [weak self] goesOn in
            Task { [weak self] in await (goesOn ? self?.resume(token) : self?.cancel(token)) }
        }
    }

    /// Resumes a transfer that was paused because its pipe was full.
    private func resume(_ token: Token) { inFlight(token)?.resume() }

    /// Returns nil if the transfer has ended.
    private func inFlight(_ token: Token) -> Transfer? {
        token.transfer.use == token.use ? token.transfer : nil
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
