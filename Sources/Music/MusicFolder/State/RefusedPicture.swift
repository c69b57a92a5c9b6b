package import Platform

/// A picture that a person has refused for all albums.
package struct RefusedPicture: Sendable, Hashable {
    package var digest: Digest
    /// Where the person has seen it; nil if an earlier version has not kept it.
    package var url: String?

    /// What it is called in lists, without credentials.
    package var name: String { url.map { Redaction.redact($0) } ?? Self.scheme + digest.description }

    package static let scheme = "sha256:"

    /// Whether a person means it.
    package func isNamed(_ text: String) -> Bool { [url, name, Self.scheme + digest.description].contains(text) }
}
