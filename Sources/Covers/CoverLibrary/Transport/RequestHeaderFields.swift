public import HTTPTypes

/// Header fields that a request sends beside those that Sleeve sends itself, such as `Authorization`.
///
/// The values may be credentials. They are sent to one origin only (scheme, host and port), also when it redirects elsewhere; they are
/// not stored, and no message, log or description shows them.
///
/// ```swift
/// configuration.headerFields["https://music.example.org"] = [.authorization: "Bearer \(token)"]
/// ```
public struct RequestHeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields, without those that only Sleeve may set: `Host`, `Accept`, `Accept-Encoding`, conditions, ranges, and fields that describe
    /// the connection or the body (RFC 9110 §7.6.1, §8.6, §13, §14).
    public let fields: HTTPFields

    /// Whether there are none.
    public var isEmpty: Bool { fields.isEmpty }

    /// These fields, without those that only Sleeve may set.
    public init(_ fields: HTTPFields = [:]) {
        self.fields =
            fields.contains { Self.reserved.contains($0.name) }
            ? HTTPFields(fields.filter { !Self.reserved.contains($0.name) }) : fields
    }

    /// As `init(_:)`.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(HTTPFields(elements.map { HTTPField(name: $0.0, value: $0.1) }))
    }

    private static let reserved: Set<HTTPField.Name> = Set(
        [
            "Host", "Accept", "Accept-Encoding", "Range", "If-Match", "If-None-Match", "If-Modified-Since",
            "If-Unmodified-Since", "If-Range", "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding",
            "Upgrade",
            "Content-Length", "Content-Type", "Content-Encoding", "Expect", "Proxy-Authorization", "Proxy-Connection",
        ].compactMap { HTTPField.Name($0) })
}

extension RequestHeaderFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the fields.
    public var description: String { "[\(fields.map { "\($0.name.rawName): [hidden]" }.joined(separator: ", "))]" }
    /// As `description`.
    public var debugDescription: String { description }
    /// As `description`.
    public var customMirror: Mirror { Mirror(self, children: ["fields": description]) }
}
