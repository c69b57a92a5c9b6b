import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

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
