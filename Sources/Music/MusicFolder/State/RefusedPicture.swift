package import Platform

/// A picture that a person has refused for all albums.
package struct RefusedPicture: Sendable, Hashable {
    package var digest: Digest
    /// Where the person has seen it.
    package var url: String

    /// What it is called in lists, without credentials.
    package var name: String { Redaction.redact(url) }

    /// Whether a person means it.
    package func isNamed(_ text: String) -> Bool { [url, name].contains(text) }
}
