package import Platform

/// A cover to store whose bytes are in memory: from a pack or a person.
package struct ImportedCover: Sendable {
    package var metadata: EntryMetadata
    package let body: [UInt8]
    /// Of `body`.
    package let digest: Digest

    /// - Parameter digest: of `body`, if the caller has compared them; nil to compute it.
    package init(_ metadata: EntryMetadata, _ body: [UInt8], _ digest: Digest? = nil) {
        (self.metadata, self.body) = (metadata, body)
        self.digest = digest ?? Digest(of: body)
    }
}
