public import HTTPTypes
public import Platform

/// A complete response to a `TransportRequest`.
public struct TransportResponse: Sendable, Hashable {
    /// Such as `.ok`, or `404`.
    public var status: HTTPResponse.Status
    /// The library reads those that a cache needs: `Cache-Control`, `ETag`, `Last-Modified`, `Expires`, `Date`, `Age`, `Vary`, `Location`,
    /// `Retry-After`, and the host's rate limit.
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
