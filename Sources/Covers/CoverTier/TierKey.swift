import Platform

/// The key of a cover in a tier.
package struct TierKey: Sendable, Hashable {
    /// The cover's normalised URL: its key in a cache.
    package let url: String
    /// SHA-256 of `url`, in 64 lower-case hexadecimal digits: what names the cover's entry. A URL may grant access, and be of any length.
    package let hash: String

    package init(_ url: String) {
        self.url = url
        hash = Digest(of: url.utf8).description
    }

    /// `ab/abcdef…`: names spread over 256 folders.
    package var path: String { "\(hash.prefix(2))/\(hash)" }
}
