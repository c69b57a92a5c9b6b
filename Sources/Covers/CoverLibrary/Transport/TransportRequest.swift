public import HTTPTypes
public import Platform

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
