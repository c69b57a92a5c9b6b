import CurlHTTP
import HTTPCaching
package import HTTPTypes
import Synchronization

/// A client's request to a mirror.
package struct MirrorRequest: Sendable {
    package var method: HTTPRequest.Method
    /// The request target as received (RFC 9112 section 3.2).
    package var target: String
    package var fields: HTTPFields
    /// Nil if the request has none.
    package var body: [UInt8]?

    package init(method: HTTPRequest.Method, target: String, fields: HTTPFields = [:], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The cache directives (RFC 9111 section 5.2.1). `Pragma` counts only without `Cache-Control` (section 5.4).
    var directives: CacheDirectives {
        var directives = CacheDirectives(fields)
        if !fields.contains(.cacheControl), CacheDirectives(fields[values: .pragma].joined(separator: ",")).noCache {
            directives.noCache = true
        }
        return directives
    }

    /// Whether a stored response may answer the request. Only the origin can judge preconditions on its own state (RFC 9110
    /// sections 13.1.1 and 13.1.4), and the content of a GET has no defined meaning (section 9.3.1).
    var isCacheable: Bool {
        (method == .get || method == .head) && !fields.contains(.ifMatch) && !fields.contains(.ifUnmodifiedSince)
            && body?.isEmpty ?? true
    }

    /// RFC 9110 section 9.2.1. An unknown method counts as unsafe.
    var isSafe: Bool { [.get, .head, .options, .trace].contains(method) }

    /// The request as the mirror sends it. - Parameter pseudonym: the mirror's name in `Via`.
    func forwarded(by pseudonym: String) -> MirrorRequest {
        var request = self
        request.fields = fields.via(pseudonym)
        // libcurl writes these.
        request.fields[.contentLength] = nil
        request.fields[HTTPField.Name("Host")!] = nil
        return request
    }
}
