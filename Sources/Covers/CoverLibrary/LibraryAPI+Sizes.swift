import CoverCache
import CoverFetch
import CoverSizes
import CurlHTTP
import ImageHeader
package import Platform

/// Covers in smaller sizes.
extension LibraryAPI {
    /// The longest sides, in pixels, of the sizes that the cache keeps beside its covers. Each is made once.
    public static let keptSizes = SizeFolder.steps

    /// The same in any size. Each call makes a size that is not kept.
    package func cover(for request: CoverRequest, within longestSide: Int?) async throws(CoverFailure) -> Cover {
        let cover = try await traced("sleeve.cover", url: request.location.isEmpty ? nil : request.location) {
            () async throws(CoverFailure) in
            try await covers.cover(for: request)
        }
        return try await sized(cover, within: longestSide)
    }

    func sized(_ cover: Cover, within longestSide: Int?) async throws(CoverFailure) -> Cover {
        guard let longestSide, let digest = Digest(cover.digest) else { return cover }
        return cover.inSize(try await covers.shelf.cover(digest, longestSide: longestSide), longestSide)
    }

    /// The same on the caller's thread.
    func sized(_ cover: Cover, within longestSide: Int?) throws(CoverFailure) -> Cover {
        guard let longestSide, let digest = Digest(cover.digest) else { return cover }
        return cover.inSize(try covers.shelf.cover(digest, longestSide: longestSide), longestSide)
    }

    /// Makes those sizes of a cached cover that the cache does not keep yet, after sizes that someone waits for.
    /// - Parameter digest: of the cover, as `CoverOutcome.digest`.
    /// - Returns: How many were made. A cover that is small enough, or cannot be made smaller, has none.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    @discardableResult
    package func makeSizes(_ longestSides: [Int], of digest: String) async throws(CoverFailure) -> Int {
        guard let digest = Digest(digest) else { return 0 }
        do {
            var count = 0
            let missing = try await covers.shelf.read { reader in
                longestSides.filter { reader.path(of: digest, $0) == nil }
            }
            for side in missing {
                let cover = try await covers.shelf.makeSize(digest, side, isUrgent: false)
                if let cover, cover.digest != digest.description { count += 1 }
            }
            await covers.persistency.waitForKeeping()
            return count
        } catch {
            throw CoverFailure(cache: error, url: "")
        }
    }

    /// A cached cover's bytes in a smaller size, read or made on the caller's thread; nil if the cover is gone, or cannot be made smaller and
    /// is no baseline JPEG of this size.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    package func coverBytes(_ digest: Digest, longestSide: Int) throws(CoverFailure) -> [UInt8]? {
        do {
            if let bytes = try covers.shelf.reader.size(digest, longestSide, counting: false)?.bytes { return bytes }
            guard case .hit(_, let body) = try covers.shelf.reader.cover(digest: digest, counting: false) else {
                return nil
            }
            return body.withUnsafeBytes { bytes in
                switch SmallPicture.reduce(bytes, to: longestSide) {
                case .made(let picture): picture.bytes
                case .original(.isSmall): body
                case .original: nil
                }
            }
        } catch {
            throw CoverFailure(cache: error, url: "")
        }
    }

    /// Whether a cached cover has one colour only, and more than a few pixels; false for one that cannot be decoded. Computes on the caller's
    /// thread: some milliseconds for a picture that has few bytes for its pixels, as those of one colour have, and none for others.
    package func hasOneColor(_ digest: Digest) -> Bool {
        guard case .hit(let entry, let body)? = try? covers.shelf.reader.cover(digest: digest, counting: false),
            let size = PixelSize(entry.metadata.width, entry.metadata.height),
            body.count < 8_192 + size.pixelCount / 25,
            case .made(let picture) = body.withUnsafeBytes({ SmallPicture.reduce($0, to: 64) })
        else { return false }
        return picture.isPlain
    }
}

extension Cover {
    /// - Parameter small: its size that the cache has; nil for a cover that must not be stored.
    fileprivate func inSize(_ small: Cover?, _ longestSide: Int) -> Cover {
        guard var small else { return resized(longestSide: longestSide) }
        (small.url, small.key, small.isStale) = (url, key, isStale)
        return small
    }
}
