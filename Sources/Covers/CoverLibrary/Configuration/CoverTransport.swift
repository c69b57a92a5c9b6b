import CoverFetch
import CurlHTTP
public import HTTPTypes
public import Platform

/// What sends the requests of a library in place of libcurl: a test double, or a program's own HTTP client.
///
/// Set it as `LibraryConfiguration.transport`. The library decides as usual which request is sent when, what it means, and what is
/// retried, followed, cached and stored.
public protocol CoverTransport: Sendable {
    /// Sends one request and returns its response. A redirect is a response: the library follows it.
    ///
    /// The library limits the number of concurrent calls, and the time that each may take (`LibraryConfiguration.timeout`). The task is cancelled
    /// when the response is no longer needed. It may ask the library for other covers, which take places of their own: it is not to wait for its own. It has the task-local values of the task that asked first, such as its place in a trace.
    /// - Throws: a `CoverFailure`, whose kind is that of the request: those that `CoverFailure.isRetryable` names are retried. One with a `status`
    ///   counts as a response with that status. A `CancellationError` counts as `cancelled`, any other error as `broken`.
    func response(to request: TransportRequest) async throws -> TransportResponse
}

/// A request that a `CoverTransport` sends.
public struct TransportRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `GET` for a cover, `POST` for an edit of a remote library.
    public var method: HTTPRequest.Method
    /// An http or https URL.
    public var url: URL
    /// What to send beside `Host` and the fields that describe the body's length.
    public var headerFields: HTTPFields
    /// Nil for a request without a body.
    public var body: Data?

    /// A request with these parts.
    public init(method: HTTPRequest.Method = .get, url: URL, headerFields: HTTPFields = [:], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
    }

    /// Method and URL without credentials. The values of header fields may be credentials, and are left out.
    public var description: String { "\(method.rawValue) \(Redaction.redact(url.absoluteString))" }

    /// As `description`: without the values of header fields.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headerFields": headerFields.map(\.name.rawName)])
    }
}

/// A complete response to a `TransportRequest`.
public struct TransportResponse: Sendable, Hashable {
    /// Such as `.ok`, or `404`.
    public var status: HTTPResponse.Status
    /// The library reads those that a cache needs: `Cache-Control`, `ETag`, `Last-Modified`, `Expires`, `Date`, `Age`, `Vary`, `Location`,
    /// and `Retry-After`.
    public var headerFields: HTTPFields
    /// The body without content coding.
    public var body: Data

    /// A response with these parts.
    public init(status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], body: Data = Data()) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

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
