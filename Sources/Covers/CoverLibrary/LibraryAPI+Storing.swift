import CoverCache
public import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
public import Platform

/// Storing covers that were not downloaded.
extension LibraryAPI {
    /// How long a stored cover is fresh, in seconds: ten years, in which no server is asked about it.
    fileprivate static let lifetime = 315_360_000

    /// Stores bytes as the cover of a URL: a file that a person chose, or a picture that comes with a program. It replaces the cover
    /// that is cached for the URL, and is fresh for ten years. It is on disk, safe from power loss, when this returns.
    ///
    /// A cover without an address on the web belongs under a URL whose host ends in `.invalid` (RFC 6761 §6.4), such as
    /// `https://covers.invalid/low-tide.jpg`. Such a URL is never requested, and its cover is always fresh.
    /// - Parameters:
    ///   - body: an image of at most `configuration.maximumSize` bytes.
    ///   - url: an http or https URL.
    ///   - isPinned: Pin the cover, so that it is never evicted. A pin that exists stays either way.
    /// - Returns: the stored cover.
    /// - Throws: `CoverFailure`: `badURL`; `notAnImage`; `tooLarge` for the configuration or the cache; `cache` if the disk cannot be
    ///   written; `cancelled` if the library is closed.
    @discardableResult
    public func store(_ body: Data, for url: URL, pinned isPinned: Bool = false) async throws(CoverFailure) -> Cover {
        try await store([(Array(body), url.absoluteString)], pinned: isPinned)[0].get()
    }

    /// Stores several covers, each as `store(_:for:)` does, with one commit for a group of them.
    /// - Returns: for each the stored cover, or why it is not stored.
    package func store(
        _ pictures: [(body: [UInt8], url: String)], pinned isPinned: Bool = false
    ) async -> [Result<Cover, CoverFailure>] {
        let checked = pictures.map { body, url in
            Result { () throws(CoverFailure) in
                try Picture(body, try covers.key(url), limit: configuration.maximumSize)
            }
        }
        var stored = await commit(checked.compactMap { try? $0.get() }, isPinned: isPinned)[...]
        return checked.map { result in
            result.flatMap { picture in
                stored.removeFirst().map { outcome in
                    covers.hub.publish(.arrived(outcome))
                    return Cover(picture.url.string, picture.header, picture.body)
                }
            }
        }
    }

    /// A picture that may be stored.
    struct Picture: Sendable {
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
                status: 200, fields: [.cacheControl: "max-age=\(LibraryAPI.lifetime), immutable"], requestTime: now,
                responseTime: now)
            var metadata = EntryMetadata(url, header, response)
            body.withUnsafeBytes { metadata.markIfIncomplete($0) }
            return metadata
        }
    }

    private func commit(_ pictures: [Picture], isPinned: Bool) async -> [Result<CoverOutcome, CoverFailure>] {
        if pictures.isEmpty { return [] }
        do {
            return try await covers.persistency.withWriter { writer in
                let results = try Self.store(pictures, writer)
                let keys = results.compactMap { try? $0.get().url }
                if isPinned, !keys.isEmpty { _ = try writer.pin(keys) }
                return results
            }
        } catch {
            return pictures.map { .failure(CoverFailure(cache: error, url: $0.url.string)) }
        }
    }

    /// Stores pictures on the disk thread.
    static func store(
        _ pictures: [Picture], _ writer: CacheWriter
    ) throws -> [Result<CoverOutcome, CoverFailure>] {
        if pictures.isEmpty { return [] }
        let now = WallClock.milliseconds()
        return zip(pictures, try writer.store(pictures.map { ($0.metadata(at: now), $0.body) })).map {
            result($0, $1, writer)
        }
    }

    private static func result(
        _ picture: Picture, _ outcome: Result<PutOutcome, CacheError>, _ writer: CacheWriter
    ) -> Result<CoverOutcome, CoverFailure> {
        let (key, count) = (picture.url.string, picture.body.count)
        let error: CacheError
        switch outcome {
        case .success(.stored(let digest, let isDuplicate)):
            return .success(CoverOutcome(stored: key, digest, count, isDuplicate))
        case .success(.lost): error = .index("the cover was evicted as it was stored")
        case .failure(let failure): error = failure
        }
        return .failure(CoverFailure(cache: error, url: key))
    }
}

extension CoverFailure {
    /// Why a cover could not be stored or read.
    /// - Parameter error: of the cache.
    init(cache error: any Error, url key: String) {
        let error = CacheError(error)
        let kind: Kind =
            switch error {
            // Only this cover cannot be stored. Another failure of the cache ends a run.
            case .largerThanCapacity, .longMetadata, .noRoom: .tooLarge
            case .unwritableCover: .notStorable
            case .closed: .closed
            default: .cache
            }
        self.init(kind, url: key, detail: "\(error)")
    }
}
