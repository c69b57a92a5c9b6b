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
        let url = request.url.requestURL
        let started = ContinuousClock.now
        do {
            let response = try await transport.response(to: transportRequest(request))
            if response.body.count > maximumSize {
                let limit = "larger than the limit of \(ByteCount(maximumSize)) (--max-size)"
                return .failure(TransferError(.tooLarge, url: url, detail: limit))
            }
            return .success(
                TransferResponse(
                    HTTPResponse(status: response.status, headerFields: response.headerFields),
                    body: Array(response.body), to: request, microseconds: started.microseconds(to: .now)))
        } catch {
            return .failure(Self.transferError(error, url: url))
        }
    }

    private func transportRequest(_ request: TransferRequest) -> TransportRequest {
        var fields = request.headerFields
        if request.call == nil {
            for field in TransferRequest.coverFields where fields[field.name] == nil { fields.append(field) }
        }
        if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
        return TransportRequest(
            method: request.call?.method ?? .get, url: URL(key: request.url.requestURL), headerFields: fields,
            body: request.call?.body.map { Data($0) })
    }

    private static func transferError(_ error: any Error, url: String) -> TransferError {
        guard let failure = error as? CoverFailure else { return TransferError(.broken, url: url, detail: "\(error)") }
        // The scheduler itself cancels; a transport's end of a task is a broken transfer to it.
        let kind = failure.kind == .notAnImage ? .coding : TransferError.Kind(rawValue: failure.kind.rawValue)
        return TransferError(kind.flatMap { $0 == .cancelled ? nil : $0 } ?? .broken, url: url, detail: failure.detail)
    }
}
