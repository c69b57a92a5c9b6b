public import AlbumLibrary
import CoverCache
package import CoverFetch
import CurlHTTP
package import Platform

/// What shows an album's cover, and what was found there, such as a `CoverStatus`.
public enum ShownCover<Found: Sendable>: Sendable {
    /// The file that a person has beside the music: `Album.coverFile`.
    case own(Found)
    /// The cover at one of the album's addresses.
    case addressed(Found)
    /// The file that a fill wrote beside the music, unchanged.
    case written(Found)

    /// What was found there.
    public var found: Found {
        switch self {
        case .own(let found), .addressed(let found), .written(let found): found
        }
    }
}

extension LibraryAPI {
    /// What shows the covers of albums, in order. The gallery and every command follow this rule: a person's file beside the music comes first,
    /// then the cover at the album's addresses, then the file that a fill wrote.
    /// - Parameters:
    ///   - albums: The albums to look for.
    ///   - files: Reads the cover files of albums, each at its `coverFile`, in order; nil for one that is gone or no picture.
    ///   - addressed: Finds the covers at the addresses of albums, in order; nil where there is none.
    /// - Returns: For each album what shows its cover; nil for an album without a cover.
    /// - Throws: What `addressed` throws.
    public func shownCovers<Found, Failure>(
        of albums: [Album], files: ([Album]) async -> [Found?],
        addressed: ([Album]) async throws(Failure) -> [Found?]
    ) async throws(Failure) -> [ShownCover<Found>?] {
        var shown = [ShownCover<Found>?](repeating: nil, count: albums.count)
        let own = albums.indices.filter { albums[$0].coverFile != nil }
        for (index, found) in zip(own, await files(own.map { albums[$0] })) { shown[index] = found.map { .own($0) } }
        let others = albums.indices.filter { shown[$0] == nil }
        for (index, found) in zip(others, try await addressed(others.map { albums[$0] })) {
            shown[index] = found.map { .addressed($0) }
        }
        let missing = others.filter { shown[$0] == nil }
        let paths = await writtenCovers(of: missing.map { albums[$0].id })
        let written = missing.filter { paths[albums[$0].id] != nil }
        let places = written.map { index in
            var album = albums[index]
            album.coverFilePath = paths[album.id]
            return album
        }
        for (index, found) in zip(written, await files(places)) { shown[index] = found.map { .written($0) } }
        return shown
    }

    /// The cover of an album, by the rule of `shownCovers`. That of a file has a file URL.
    /// - Parameter addressed: The cover of a request for the album.
    /// - Throws: `CoverFailure` of the album's addresses.
    package func cover(
        of album: Album, _ cachePolicy: CoverRequest.CachePolicy = .useCache,
        addressed: (CoverRequest) async throws(CoverFailure) -> Cover
    ) async throws(CoverFailure) -> Cover {
        var failure = CoverFailure(.notCached, url: album.coverURL ?? "", detail: "the album has no cover")
        let shown = try await shownCovers(
            of: [album], files: { albums in await WorkThread.run { albums.map { Cover(fileOf: $0) } } },
            addressed: { (albums: [Album]) async throws(CoverFailure) -> [Cover?] in
                var covers: [Cover?] = []
                for album in albums {
                    do throws(CoverFailure) {
                        covers.append(try await addressed(CoverRequest(album: album, cachePolicy: cachePolicy)))
                    } catch {
                        if error.leavesCoverUnknown { throw error }
                        failure = error
                        covers.append(nil)
                    }
                }
                return covers
            })
        if let cover = shown[0]?.found { return cover }
        throw failure
    }

    /// The paths of the cover files that fills wrote beside the music of these albums, by the albums' ids; none of a file that has changed since.
    /// See `LibraryConfiguration.writtenCovers`.
    public func writtenCovers(of albums: [Album.ID]) async -> [Album.ID: [UInt8]] {
        if albums.isEmpty { return [:] }
        return await WorkThread.run { [configuration] in configuration.writtenCovers(Set(albums)) }
    }
}

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
        return try await covers.shelf.read(of: url) { reader in
            try reader.status(of: [key], counting: false)[0].map { status in
                longestSide.flatMap { reader.path(of: status.digest, $0) } ?? reader.path(of: status.digest)
            }
        }
    }

    /// The path of the file with these bytes, if they are cached.
    package func coverFile(_ digest: Digest) -> String { covers.shelf.reader.path(of: digest) }

    /// The cached cover of each album, in order: at the first of its URLs that has one. Counts as no use.
    /// - Throws: `LibraryError`.
    package func coverFiles(of albums: [Album]) async throws(LibraryError) -> [CoverFile?] {
        let keys = albums.map { album in
            album.coverURLs(in: covers.archive).compactMap { try? covers.key($0).string }
        }
        await covers.restorePictures(keys.flatMap(\.self))
        return try await reading { reader in
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
    }
}
