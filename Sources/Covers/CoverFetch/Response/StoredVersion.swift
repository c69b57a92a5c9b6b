package import CurlHTTP
import HTTPCaching
package import HTTPTypes
package import Platform

/// A stored response that can be revalidated.
package final class StoredVersion: Sendable {
    /// The header fields of the conditional request.
    private let conditions: HTTPFields
    /// `HTTPURL.place` of the redirects' target that gave the validators; nil if the cover's own URL gave them.
    private let place: UInt64?
    /// The stored `ETag`.
    package let entityTag: String?
    /// The SHA-256 of the stored bytes.
    package let digest: Digest
    /// When it was validated last, in milliseconds since 1970. With the digest, it tells whether the stored version is still the same.
    package let validatedAt: Int64

    package init(conditions: HTTPFields, place: UInt64? = nil, digest: Digest, validatedAt: Int64) {
        self.conditions = conditions
        self.place = place
        entityTag = conditions.text(.ifNoneMatch)
        self.digest = digest
        self.validatedAt = validatedAt
    }

    /// The header fields of the conditional request of a URL. Validators belong to the URL that gave them (RFC 9111 section 4.3.1): those of a
    /// redirect's target are sent to that path and query only, on whatever host the redirect leads to, as an archive moves its files between nodes.
    /// - Parameters:
    ///   - target: the URL to request: `url`, or the target of a redirect of it.
    ///   - url: the cover's own URL.
    package func conditions(at target: HTTPURL, of url: HTTPURL) -> HTTPFields {
        let isSource = target.string == url.string ? place == nil : place == target.place
        return isSource ? conditions : [:]
    }
}
