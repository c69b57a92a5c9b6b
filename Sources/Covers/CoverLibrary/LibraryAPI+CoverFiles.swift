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

    /// The path of the file that holds a cached cover's bytes; nil if the cover is not cached.
    /// - Throws: `CoverFailure` if `url` is no http or https URL, the library is closed, or the index cannot be read.
    package func coverFile(for url: String) throws(CoverFailure) -> String? {
        let key = try covers.key(url).string
        if covers.isClosed { throw .closed(url) }
        do {
            return try covers.reader.status(of: [key])[0].map { covers.reader.path(of: $0.digest) }
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
