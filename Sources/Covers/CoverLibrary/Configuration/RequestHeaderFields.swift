import AlbumLibrary
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

extension RequestHeaderFields {
    /// Why a line is no field. It does not show the line, which may be a credential.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notAField
        case noValue(String)
        case control(String)
        case reserved(String)

        package var description: String {
            switch self {
            case .notAField: "it is not a name, a colon and a value, as in 'Referer: https://example.org/'"
            case .noValue(let name): "\(name) has no value"
            case .control(let name): "the value of \(name) has a control character"
            case .reserved(let name): "\(name) is set by Sleeve alone"
            }
        }
    }

    /// These fields and that of a line as in the head of a request: `Name: value` (RFC 9112 section 5).
    package func adding(_ line: String) throws(Problem) -> Self {
        guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
            throw .notAField
        }
        let value = String(line[line.index(after: colon)...]).trimmingWhitespace()
        if value.isEmpty { throw .noValue(name.rawName) }
        if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) { throw .control(name.rawName) }
        if Self([name: value]).isEmpty { throw .reserved(name.rawName) }
        return Self(HTTPFields(fields + [HTTPField(name: name, value: value)]))
    }
}
