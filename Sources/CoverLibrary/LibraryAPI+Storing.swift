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
    private static let lifetime = 315_360_000

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
        let location = try covers.key(url.absoluteString)
        let key = location.string
        if body.count > configuration.maximumSize {
            let limit = "\(configuration.maximumSize) bytes, the largest that is accepted"
            throw CoverFailure(.tooLarge, url: key, detail: "it has \(body.count) bytes, more than \(limit)")
        }
        let bytes = Array(body)
        guard let header = bytes.withUnsafeBytes({ ImageHeader($0) }) else {
            let content = bytes.withUnsafeBytes { ImageHeader.describe($0) }
            throw CoverFailure(.notAnImage, url: key, detail: "it is \(content), not an image")
        }
        let stored = try await store(bytes, header, location, isPinned: isPinned)
        covers.hub.publish(.arrived(stored))
        return Cover(key, header, bytes)
    }

    private func store(
        _ body: [UInt8], _ header: ImageHeader, _ url: HTTPURL, isPinned: Bool
    ) async throws(CoverFailure) -> CoverOutcome {
        let (key, now) = (url.string, WallClock.milliseconds())
        let response = StoredResponse(
            status: 200, fields: [.cacheControl: "max-age=\(Self.lifetime), immutable"], requestTime: now,
            responseTime: now)
        var metadata = EntryMetadata(url, header, response)
        body.withUnsafeBytes { metadata.markIfIncomplete($0) }
        do {
            let outcome = try await covers.persistency.withWriter { [metadata] writer in
                let outcome = try writer.store([(metadata, body)])[0].get()
                if case .noRoom = outcome { throw writer.noRoom(for: body.count) }
                if isPinned { _ = try writer.pin([key]) }
                return outcome
            }
            guard case .stored(let digest, let isDuplicate) = outcome else {
                throw CacheError.index("the cover was evicted as it was stored")
            }
            return CoverOutcome(stored: key, digest, body.count, isDuplicate)
        } catch {
            throw CoverFailure(cache: error, url: key)
        }
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
            case .largerThanCapacity, .noRoom: .tooLarge
            case .closed: .cancelled
            default: .cache
            }
        self.init(kind, url: key, detail: "\(error)")
    }
}
