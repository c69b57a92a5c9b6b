import HTTPTypes
import Platform

@testable import CoverCache
@testable import CoverMirror

extension CachedResponse {
    /// A cached response whose entry has this metadata.
    init(metadata: EntryMetadata, libraryFields: HTTPFields = [:]) {
        self.init(
            CachedEntry(
                metadata: metadata, digest: Digest(of: [1].withUnsafeBytes { $0 }), bytes: 1,
                validatedAt: metadata.storedAt, lastUsed: 0, row: EntryRow(id: 1, cover: 1)),
            libraryFields: libraryFields)
    }
}
