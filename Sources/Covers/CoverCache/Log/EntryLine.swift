package import Platform

/// A stored entry as a line of `EntryLog`.
package struct EntryLine: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// The body's length.
    package var bytes: Int

    package init(_ metadata: EntryMetadata, _ digest: Digest, bytes: Int) {
        (self.metadata, self.digest, self.bytes) = (metadata, digest, bytes)
    }

    /// The line and its line feed.
    package var line: [UInt8] { EntryLog.Line.stored(self).bytes }

    /// A check of an entry's key and its cover's digest. A row or a line that a failing disk has changed must not give another URL's cover.
    static func seal(_ key: String, _ digest: Digest) -> Int64 {
        Int64(bitPattern: digest.withUnsafeBytes { FNV1a.hash($0, after: FNV1a.hash(key)) })
    }
}
