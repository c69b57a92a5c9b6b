package import CoverCache
import CurlHTTP

/// The cache as the mirror uses it: responses by key.
extension LibraryAPI {
    /// The entries of `keys`, without those that do not exist. It counts as a use: a mirror may answer without their bytes. Reads the index
    /// on the caller's thread.
    /// - Throws: `CacheError`.
    package func storedEntries(of keys: [EntryKey]) throws -> [CachedEntry] {
        defer { covers.passUsageOn(ofAtLeast: 1_024) }
        return try keys.compactMap { try covers.reader.entry(for: $0.text, isUse: true) }
    }

    /// The verified body of an entry. Nil if it was evicted, damaged, or replaced since `entry` was read.
    /// - Throws: `CacheError`.
    package func storedBody(of entry: CachedEntry) async throws -> [UInt8]? {
        guard let (found, body) = try await covers.storedEntry(entry.metadata.key) else { return nil }
        return found.digest == entry.digest && found.row == entry.row ? body : nil
    }

    /// Stores responses, and returns when they are committed.
    /// - Returns: for each, whether it was stored. A response that is larger than the cache is not.
    package func store(_ responses: [(metadata: EntryMetadata, body: [UInt8])]) async -> [Bool] {
        let marked = responses.map { metadata, body in
            var metadata = metadata
            if EntryKey.isCover(metadata.key) { body.withUnsafeBytes { metadata.markIfIncomplete($0) } }
            return (metadata: metadata, body: body)
        }
        guard let results = try? await covers.persistency.withWriter({ try $0.store(marked) }) else {
            return responses.map { _ in false }
        }
        return results.map { if case .success(.stored) = $0 { true } else { false } }
    }

    /// Changes the metadata of entries whose bytes stay. An entry that was replaced since it was read stays as it is.
    /// - Returns: false if the index cannot be written.
    package func renew(_ renewals: [Renewal]) async -> Bool {
        (try? await covers.persistency.withWriter { try $0.renew(renewals) }) != nil
    }
}
