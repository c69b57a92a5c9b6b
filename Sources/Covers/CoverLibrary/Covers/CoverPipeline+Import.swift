import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

/// Covers that another cache has downloaded: those of a pack.
extension CoverPipeline {
    /// The outcome of one cover.
    enum ImportOutcome: Sendable {
        /// The cache has it, as new or newer.
        case kept
        case stored(Digest, isDuplicate: Bool)
        case failed(String)
    }

    /// The cover as this cache would store it: another cache may be of any version, and anyone may have changed it.
    /// - Parameter digest: of `body`.
    /// - Throws: `CoverFailure` if it is no cover.
    static func checked(
        _ metadata: EntryMetadata, _ body: [UInt8], _ digest: Digest
    ) throws(CoverFailure) -> ImportedCover {
        let key = metadata.key
        guard let url = try? HTTPURL(key) else {
            throw CoverFailure(.badURL, url: key, detail: "its URL in the pack is not valid")
        }
        guard let header = body.withUnsafeBytes({ ImageHeader($0) }) else {
            throw CoverFailure(.notAnImage, url: key, detail: "its bytes in the pack are no image")
        }
        var metadata = metadata.imported
        // Another version may normalise URLs less.
        metadata.key = url.string
        (metadata.mediaType, metadata.width, metadata.height) = (header.mediaType, header.width, header.height)
        return ImportedCover(metadata, body, digest)
    }

    /// Stores covers, and tells observers. A cover that is cached already and was validated at the same time or later stays.
    /// - Throws: `CacheError`.
    func store(_ imported: [ImportedCover], dryRun isDryRun: Bool = false) async throws -> [ImportOutcome] {
        let outcomes = try await persistency.withWriter { [reader] writer in
            try Self.store(imported, writer, reader, isDryRun: isDryRun)
        }
        if isDryRun || !hub.isObserved { return outcomes }
        for (cover, outcome) in zip(imported, outcomes) {
            guard case .stored(let digest, let isDuplicate) = outcome else { continue }
            hub.publish(.arrived(CoverOutcome(stored: cover.metadata.key, digest, cover.body.count, isDuplicate)))
        }
        return outcomes
    }

    private static func store(
        _ imported: [ImportedCover], _ writer: CacheWriter, _ reader: CacheReader, isDryRun: Bool
    ) throws -> [ImportOutcome] {
        var outcomes = imported.map { _ in ImportOutcome.failed("") }
        let wanted = try imported.indices.filter { index in
            let metadata = imported[index].metadata
            guard let entry = try reader.entry(for: metadata.key) else { return true }
            outcomes[index] = .kept
            let time = metadata.validatedAt ?? metadata.storedAt
            if WallClock.known(entry.validatedAt) < WallClock.known(time) { return true }
            return try !writer.isIntact(entry.digest)
        }
        if isDryRun {
            for index in wanted { outcomes[index] = .stored(imported[index].digest, isDuplicate: false) }
            return outcomes
        }
        for (index, result) in zip(wanted, try writer.store(wanted.map { imported[$0] })) {
            outcomes[index] =
                switch result {
                case .success(.stored(let digest, let isDuplicate)):
                    .stored(digest, isDuplicate: isDuplicate)
                // `store` has put what was lost again, and withholds nothing.
                case .success(.lost), .success(.withheld): .failed("it was evicted as it was stored")
                case .success(.unstored(let error)), .failure(let error): .failed("\(error)")
                }
        }
        return outcomes
    }
}

extension EntryMetadata {
    /// The metadata without the fields that no cache needs, such as `Set-Cookie`: other programs, and other versions, write packs.
    var imported: EntryMetadata {
        var imported = self
        let response = StoredResponse(
            status: 200, fields: ResponseFields.cached(HTTPFields(fieldLines: fields)), requestTime: 0, responseTime: 0)
        imported.fields = response.keptFields + ((try? url())?.annotation ?? "")
        for annotation in EntryAnnotation.all(in: fields) {
            switch annotation {
            // A URL is kept if it leads to the same place, without credentials.
            case .requestURL: break
            case .failing, .validatorsPlace, .redirects, .omittedParameters, .headerFields:
                imported.fields += annotation.line
            }
        }
        return imported
    }
}
