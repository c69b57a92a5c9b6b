package import CoverCache
package import Platform

/// A cover as a tier has it: complete in itself.
package struct TierCover: Sendable {
    package let entry: EntryLine
    package let body: [UInt8]
    package var key: TierKey { TierKey(entry.metadata.key) }

    /// A cover of a cache, with when it was validated last (`EntryLine.init`), whose bytes match its digest.
    package init(_ metadata: EntryMetadata, _ digest: Digest, body: [UInt8]) {
        entry = EntryLine(metadata, digest, bytes: body.count)
        self.body = body
    }

    /// A cover that was read from a storage.
    /// - Throws: `TierError.damaged` if it is not the whole cover of `key`.
    package init(_ entry: EntryLine, body: [UInt8], for key: TierKey) throws(TierError) {
        guard entry.metadata.key == key.url else { throw .damaged("it is the entry of another URL") }
        guard entry.bytes == body.count else {
            throw .damaged("it has \(body.count) of \(entry.bytes) bytes")
        }
        guard Digest(of: body) == entry.digest else { throw .damaged("its bytes do not match their SHA-256") }
        (self.entry, self.body) = (entry, body)
    }
}
