import CoverFetch
import CurlHTTP
import HTTPTypes
import Platform

/// Sends the requests of an `HTTPClient` through a `CoverTransport`.
struct TransportAdapter: Sendable {
    let transport: any CoverTransport
    let userAgent: String
    /// In bytes.
    let maximumSize: Int

    func response(to request: TransferRequest) async -> Result<TransferResponse, TransferError> {
        guard let context = request.context else { return await send(request) }
        return await context.run { await send(request) }
    }

    private func send(_ request: TransferRequest) async -> Result<TransferResponse, TransferError> {
        let url = request.url.requestURL
        let started = ContinuousClock.now
        do {
            let response = try await transport.response(to: transportRequest(request))
            if response.body.count > maximumSize {
                let limit = "larger than the limit of \(ByteCount(maximumSize)); raise the maximum size"
                return .failure(TransferError(.tooLarge, url: url, detail: limit))
            }
            return .success(
                TransferResponse(
                    HTTPResponse(status: response.status, headerFields: response.headerFields),
                    body: Array(response.body), to: request, microseconds: started.microseconds(to: .now)))
        } catch let failure as CoverFailure where failure.kind == .status && (100...999).contains(failure.status ?? 0) {
            var fields = HTTPFields()
            if let pause = failure.retryAfter { fields[.retryAfter] = "\(max(0, pause.components.seconds))" }
            return .success(
                TransferResponse(
                    HTTPResponse(status: .init(code: failure.status ?? 0), headerFields: fields), body: [], to: request,
                    microseconds: started.microseconds(to: .now)))
        } catch {
            return .failure(Self.transferError(error, url: url))
        }
    }

    private func transportRequest(_ request: TransferRequest) -> TransportRequest {
        var fields = request.headerFields
        if request.post == nil {
            for field in TransferRequest.coverFields where fields[field.name] == nil { fields.append(field) }
        }
        if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
        return TransportRequest(
            method: request.post == nil ? .get : .post, url: URL(key: request.url.requestURL), headerFields: fields,
            body: request.post.map { Data($0) })
    }

    private static func transferError(_ error: any Error, url: String) -> TransferError {
        let cancelled = error is CancellationError ? CoverFailure.cancelled(url) : nil
        guard let failure = error as? CoverFailure ?? cancelled else {
            return TransferError(.broken, url: url, detail: "\(error)")
        }
        // `cancelled` would be the scheduler's own doing.
        if failure.kind != .cancelled, let kind = TransferError.Kind(rawValue: failure.kind.rawValue) {
            return TransferError(kind, url: url, detail: failure.detail)
        }
        var other = TransferError(.other, url: url, detail: failure.detail)
        other.name = failure.kind.rawValue
        return other
    }
}
