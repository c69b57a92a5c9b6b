import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Logging
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
        let outcomes = try await persistency.withWriter { [shelf] writer in
            try Self.store(imported, writer, shelf.reader, isDryRun: isDryRun)
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

/// Copies of the pictures that a person gave as files (`OwnPictures`).
extension CoverPipeline {
    /// Bytes of pictures that are stored together.
    private static let groupLength = 8 << 20

    /// Copies the pictures of a person that are among the covers at `locations` to the cache, if it does not have them.
    /// - Returns: Whether it has one now that it did not have.
    @discardableResult
    func restorePictures(_ locations: [String]) async -> Bool {
        guard let pictures else { return false }
        let digests = Array(Set(locations.compactMap(OwnPictures.digest)))
        if digests.isEmpty || isClosed { return false }
        do {
            let statuses = try await shelf.read { reader in
                try reader.status(of: digests.map(OwnPictures.address), counting: false)
            }
            let missing = zip(digests, statuses).filter { $1 == nil }.map { $0.0 }
            if missing.isEmpty { return false }
            let outcomes = try await persistency.withWriter { try Self.restore(missing, pictures, $0) }
            for outcome in outcomes { hub.publish(.arrived(outcome)) }
            return !outcomes.isEmpty
        } catch {
            configuration.logger.warning("cannot read the pictures in \(pictures.path): \(error)")
            return false
        }
    }

    private static func restore(
        _ digests: [Digest], _ pictures: OwnPictures, _ writer: CacheWriter
    ) throws -> [CoverOutcome] {
        var outcomes: [CoverOutcome] = []
        var (group, length) = ([GivenPicture](), 0)
        for digest in digests {
            let url = try HTTPURL(location: OwnPictures.address(of: digest), ignoring: [])
            guard let bytes = try pictures.contents(of: digest),
                let picture = try? GivenPicture(bytes, url, limit: .max)
            else { continue }
            group.append(picture)
            length += bytes.count
            if length < groupLength { continue }
            outcomes += try GivenPicture.store(group, writer).compactMap { try? $0.get() }
            (group, length) = ([], 0)
        }
        return try outcomes + GivenPicture.store(group, writer).compactMap { try? $0.get() }
    }
}

/// A picture that is stored without a download: a file that a person chose, or one that comes with a program.
struct GivenPicture: Sendable {
    /// How long it is fresh, in seconds: ten years, in which no server is asked about it.
    private static let lifetime = 315_360_000

    var url: HTTPURL
    var header: ImageHeader
    var body: [UInt8]

    /// - Parameter limit: of its length, in bytes.
    init(_ body: [UInt8], _ url: HTTPURL, limit: Int) throws(CoverFailure) {
        let key = url.string
        if body.count > limit {
            let limit = "\(limit) bytes, the largest that is accepted"
            throw CoverFailure(.tooLarge, url: key, detail: "it has \(body.count) bytes, more than \(limit)")
        }
        guard let header = body.withUnsafeBytes({ ImageHeader($0) }) else {
            let content = body.withUnsafeBytes { ImageHeader.describe($0) }
            throw CoverFailure(.notAnImage, url: key, detail: "it is \(content), not an image")
        }
        (self.url, self.header, self.body) = (url, header, body)
    }

    /// The row of an entry that is always fresh.
    func metadata(at now: Int64) -> EntryMetadata {
        let response = StoredResponse(
            status: 200, fields: [.cacheControl: "max-age=\(Self.lifetime), immutable"], requestTime: now,
            responseTime: now)
        return EntryMetadata(url, header, response)
    }

    /// Stores pictures on the disk thread.
    static func store(
        _ pictures: [Self], _ writer: CacheWriter
    ) throws -> [Result<CoverOutcome, CoverFailure>] {
        if pictures.isEmpty { return [] }
        let now = WallClock.milliseconds()
        return zip(pictures, try writer.store(pictures.map { ImportedCover($0.metadata(at: now), $0.body) })).map {
            result($0, $1, writer)
        }
    }

    private static func result(
        _ picture: Self, _ outcome: Result<PutOutcome, CacheError>, _ writer: CacheWriter
    ) -> Result<CoverOutcome, CoverFailure> {
        let (key, count) = (picture.url.string, picture.body.count)
        let error: CacheError
        switch outcome {
        case .success(.stored(let digest, let isDuplicate)):
            return .success(CoverOutcome(stored: key, digest, count, isDuplicate))
        case .success(.lost), .success(.withheld): error = .index("the cover was evicted as it was stored")
        case .success(.unstored(let failure)), .failure(let failure): error = failure
        }
        return .failure(CoverFailure(cache: error, url: key))
    }
}
