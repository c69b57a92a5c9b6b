import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
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
            let statuses = try await read { reader in
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
