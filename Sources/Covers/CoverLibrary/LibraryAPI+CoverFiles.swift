package import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
package import Platform

/// The files of cached covers, for what copies them.
extension LibraryAPI {
    /// A cached cover's file.
    package struct CoverFile: Sendable, Hashable {
        package var digest: Digest
        /// Length in bytes.
        package var bytes: Int
        package var mediaType: String

        package init(digest: Digest, bytes: Int, mediaType: String) {
            (self.digest, self.bytes, self.mediaType) = (digest, bytes, mediaType)
        }
    }

    /// The path of the file of a cached cover; nil if it is not cached.
    /// - Parameter longestSide: for that of a smaller size, after `cover(for:longestSide:)` has returned it: the cover's own if it is used as it
    ///   is, or the cache has no room for the size.
    /// - Throws: `CoverFailure` if `url` is no http or https URL, the library is closed, or the index cannot be read.
    package func coverFile(for url: String, longestSide: Int? = nil) async throws(CoverFailure) -> String? {
        let key = try covers.key(url).string
        if longestSide != nil { await covers.persistency.keepSizes() }
        do {
            return try await covers.read { reader in
                try reader.status(of: [key])[0].map { status in
                    longestSide.flatMap { reader.path(of: status.digest, $0) } ?? reader.path(of: status.digest)
                }
            }
        } catch {
            throw CoverFailure(cache: error, url: url)
        }
    }

    /// The path of the file with these bytes, if they are cached.
    package func coverFile(_ digest: Digest) -> String { covers.reader.path(of: digest) }

    /// The cached cover of each album, in order: at the first of its URLs that has one. Counts as no use.
    /// - Throws: `LibraryError`.
    package func coverFiles(of albums: [Album]) async throws(LibraryError) -> [CoverFile?] {
        let keys = albums.map { album in
            album.coverURLs(in: covers.archive).compactMap { try? covers.key($0).string }
        }
        do {
            await covers.restorePictures(keys.flatMap(\.self))
            return try await covers.read { reader in
                var statuses = try reader.status(of: keys.flatMap(\.self), counting: false)[...]
                return try keys.map { keys in
                    defer { statuses = statuses.dropFirst(keys.count) }
                    for (key, status) in zip(keys, statuses) where status != nil {
                        guard let entry = try reader.entry(for: key) else { continue }
                        return CoverFile(digest: entry.digest, bytes: entry.bytes, mediaType: entry.metadata.mediaType)
                    }
                    return nil
                }
            }
        } catch {
            throw LibraryError(error)
        }
    }
}
