import CoverCache
import CoverFetch
import CurlHTTP
import ImageHeader
import Logging
import Platform

/// Pictures that a person gave as files.
extension LibraryAPI {
    /// A file beside the library for a picture that arrives, for `store(_:)`.
    /// - Throws: `LibraryError` if there is no library file, or no file can be created beside it.
    package func beginPicture() throws(LibraryError) -> PictureUpload {
        guard let pictures = covers.pictures else { throw .invalidConfiguration("there is no library file") }
        do throws(SystemError) {
            return try pictures.begin()
        } catch {
            throw LibraryError(error)
        }
    }

    /// Keeps a picture that has arrived, and copies it to the cache if that has room.
    /// - Returns: The picture's address. It is no album's cover before an edit says so.
    /// - Throws: `CoverFailure`: `notAnImage`, or `cache` if it cannot be written.
    package func store(_ upload: PictureUpload) async throws(CoverFailure) -> String {
        let address = OwnPictures.address(of: upload.digest)
        let url = try covers.key(address)
        do {
            let outcome = try await covers.persistency.withWriter { [configuration] writer -> CoverOutcome? in
                let picture = try Picture(upload.contents(), url, limit: configuration.maximumSize)
                try upload.keep(mediaType: picture.header.mediaType)
                covers.pictures?.note(upload.digest)
                return try? Self.store([picture], writer).first?.get()
            }
            if let outcome { covers.hub.publish(.arrived(outcome)) }
            return address
        } catch let failure as CoverFailure {
            throw failure
        } catch {
            throw CoverFailure(cache: error, url: address)
        }
    }

    /// Removes pictures that no album has ever had. A failure is logged: the next start tries again.
    /// - Parameter now: In seconds since 1970.
    package func removeUnusedPictures(now: Int64 = WallClock.milliseconds() / 1_000) async {
        guard let pictures = covers.pictures, access(pictures.path, F_OK) == 0 else { return }
        do {
            try await albums.withNamedDigests { used, state in try pictures.removeUnused(used, state: state, now: now) }
        } catch {
            configuration.logger.warning("unused pictures stay in \(pictures.path): \(error)")
        }
    }
}

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
        var (group, length) = ([LibraryAPI.Picture](), 0)
        for digest in digests {
            let url = try HTTPURL(location: OwnPictures.address(of: digest), ignoring: [])
            guard let bytes = try pictures.contents(of: digest),
                let picture = try? LibraryAPI.Picture(bytes, url, limit: .max)
            else { continue }
            group.append(picture)
            length += bytes.count
            if length < groupLength { continue }
            outcomes += try LibraryAPI.store(group, writer).compactMap { try? $0.get() }
            (group, length) = ([], 0)
        }
        return try outcomes + LibraryAPI.store(group, writer).compactMap { try? $0.get() }
    }
}
