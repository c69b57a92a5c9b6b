package import AlbumLibrary
package import CoverLibrary
import Platform

/// The cover files that people have beside their music. A fill puts them into the cache, so that the gallery, `get` and `export` have them.
///
/// Each is stored for a URL that no server has (RFC 6761 section 6.4), which becomes that of the album if it has none:
///
///     https://covers.invalid/music/ca978112ca1bbdca/3e23e8160039594a    the folder; path, length and time of the file
///
/// A file that was changed has another URL. Only a cover that is not cached is read.
package struct OwnCovers: Sendable {
    private static let base = "https://covers.invalid/music/"
    /// Files that are read and committed together, in bytes.
    private static let groupSize = 16 << 20

    /// The scanned albums, each with its album of the library, which has the URL of its file.
    package private(set) var albums: [(scanned: ScannedAlbum, album: Album?)] = []
    private var edits: [(former: Album, album: Album)] = []
    /// The files of albums, by their URLs.
    private var files: [String: BytePath] = [:]

    /// - Parameter written: The files of fills, which are cached for the URLs at which they were found.
    package init(_ albums: [(scanned: ScannedAlbum, album: Album?)], written: [WrittenFile]) {
        let written = Set(written.lazy.map(\.path))
        for (scanned, former) in albums {
            let album = former.map { updated($0, scanned, written) }
            self.albums.append((scanned, album))
            if let former, let album, album != former { edits.append((former, album)) }
        }
    }

    private mutating func updated(_ album: Album, _ scanned: ScannedAlbum, _ written: Set<BytePath>) -> Album {
        let current = album.coverURL ?? ""
        guard current.isEmpty || current.hasPrefix(Self.base) else { return album }
        var album = album
        if let path = scanned.places.lazy.compactMap(\.cover?.path).first(where: { !written.contains($0) }) {
            // A file that is gone by now keeps its URL: the next scan knows.
            guard let url = Self.url(of: path) else { return album }
            files[url] = path
            if url != current { album.coverURL = url }
        } else if scanned.places.flatMap(\.coverFolders).contains(where: { current.hasPrefix(Self.url(ofFilesIn: $0)) })
        {
            // It was removed. The album may have another one in a folder that was not scanned.
            album.coverURL = nil
        }
        return album
    }

    private static func url(ofFilesIn folder: BytePath) -> String {
        base + Digest(of: folder.bytes).description.prefix(16) + "/"
    }

    private static func url(of path: BytePath) -> String? {
        var status = stat()
        guard let folder = path.parent, path.withCString({ stat($0, &status) }) == 0 else { return nil }
        let file = FileStatus(status)
        let version = path.bytes + "\n\(file.size) \(file.modified)".utf8
        return url(ofFilesIn: folder) + Digest(of: version).description.prefix(16)
    }

    // MARK: Storing

    /// Stores the files that are not cached, and gives the albums of the library their URLs.
    /// - Parameters:
    ///   - onProblem: Called for a file that cannot be stored, with the reason. The album is as it was.
    ///   - progress: Called with the number of files that are stored.
    /// - Returns: The number of files that were stored.
    /// - Throws: `LibraryError`, `CoverFailure` if the cache cannot be read, or `MusicState.Problem`.
    package func store(
        in library: LibraryAPI, _ writer: CoverWriter, isCancelled: () -> Bool,
        onProblem: (BytePath, String) -> Void, progress: (Int) -> Void
    ) async throws -> Int {
        var (stored, failed, group) = (0, Set<String>(), [(body: [UInt8], url: String)]())
        func storeGroup() async {
            for (picture, result) in zip(group, await library.store(group)) {
                if case .failure(let failure) = result {
                    failed.insert(picture.url)
                    files[picture.url].map { onProblem($0, failure.detail) }
                } else {
                    stored += 1
                }
            }
            group = []
            progress(stored)
        }
        for (url, path) in files.sorted(by: { $0.value < $1.value }) where try library.coverFile(for: url) == nil {
            if isCancelled() { return stored }
            do throws(MusicProblem) {
                group.append((try CoverFacts.contents(of: path).bytes, url))
            } catch {
                failed.insert(url)
                onProblem(path, error.reason)
            }
            if group.reduce(0, { $0 + $1.body.count }) > Self.groupSize { await storeGroup() }
        }
        await storeGroup()
        let edits = edits.filter { !failed.contains($0.album.coverURL ?? "") }
        if edits.isEmpty { return stored }
        // Before the library: a process that dies between the two must not take its own work for a person's.
        try await writer.note(
            coverURLs: Dictionary(edits.map { ($0.album.id, $0.album.coverURL) }) { first, _ in first })
        try await library.albums.edit(edits)
        return stored
    }
}
