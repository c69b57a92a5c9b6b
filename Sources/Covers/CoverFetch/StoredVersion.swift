package import HTTPTypes
package import Platform

/// A stored response that can be revalidated.
package final class StoredVersion: Sendable {
    /// The header fields of the conditional request.
    package let conditions: HTTPFields
    /// The stored `ETag`.
    package let entityTag: String?
    /// The SHA-256 of the stored bytes.
    package let digest: Digest
    /// When it was validated last, in milliseconds since 1970. With the digest, it tells whether the stored version is still the same.
    package let validatedAt: Int64

    package init(conditions: HTTPFields, entityTag: String?, digest: Digest, validatedAt: Int64) {
        self.conditions = conditions
        self.entityTag = entityTag
        self.digest = digest
        self.validatedAt = validatedAt
    }
}
