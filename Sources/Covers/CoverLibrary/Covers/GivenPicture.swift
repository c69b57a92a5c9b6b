import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Logging
import Platform

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
        let covers = pictures.map { ImportedCover($0.metadata(at: now), $0.body) }
        return zip(covers, try writer.store(covers)).map { cover, result in
            let key = cover.metadata.key
            return result.map { CoverOutcome(stored: key, cover.digest, cover.body.count, $0) }
                .mapError { CoverFailure(cache: $0, url: key) }
        }
    }
}
