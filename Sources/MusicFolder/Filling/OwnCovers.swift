package import AlbumLibrary
package import CoverLibrary
import Platform

/// The cover files that people have beside their music. A fill puts them into the cache, so that the gallery, `get` and `export` have them.
///
/// So are files of a fill whose albums have lost their addresses: the library's undo takes those back, and leaves the files.
///
/// Each file of a person is stored for a URL that no server has (RFC 6761 section 6.4). It becomes that of an album that has none, or that
/// has the URL of a fill's cover, in whose place the file is:
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

    /// - Parameters:
    ///   - written: The files of fills, which are cached for the URLs at which they were found.
    ///   - filled: The URLs that fills have given to albums, by their ids.
    package init(
        _ albums: [(scanned: ScannedAlbum, album: Album?)], written: [WrittenFile], filled: [Album.ID: String]
    ) {
        let written = Dictionary(written.map { ($0.path, $0) }) { $1 }
        for (scanned, former) in albums {
            let album = former.map { updated($0, scanned, written, filled[$0.id]) }
            self.albums.append((scanned, album))
            if let former, let album, album != former { edits.append((former, album)) }
        }
    }

    private mutating func updated(
        _ album: Album, _ scanned: ScannedAlbum, _ written: [BytePath: WrittenFile], _ filled: String?
    ) -> Album {
        let current = album.coverURL ?? ""
        guard current.isEmpty || current.hasPrefix(Self.base) || current == filled else { return album }
        var album = album
        let covers = scanned.places.compactMap(\.cover).filter { $0.mediaType != nil }.map { cover in
            (path: cover.path, fill: written[cover.path].flatMap { $0.isReplaced ? nil : $0 })
        }
        let keepsFill = !current.isEmpty && !current.hasPrefix(Self.base)
        if let (path, fill) = covers.first(where: { $0.fill == nil }) ?? (keepsFill ? nil : covers.first) {
            if let fill, !current.hasPrefix(Self.base) {
                // A fill that was killed gives the album its URL later.
                if fill.foundURL != nil { return album }
                if let filled, !filled.hasPrefix(Self.base) {
                    album.coverURL = filled
                    return album
                }
            }
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
        var (stored, failed, group, length) = (0, Set<String>(), [(body: [UInt8], url: String)](), 0)
        func storeGroup() async {
            for (picture, result) in zip(group, await library.store(group)) {
                var result = result
                // A group has the failure of its first picture that does not fit.
                if case .failure = result, group.count > 1 { result = await library.store([picture])[0] }
                if case .failure(let failure) = result {
                    failed.insert(picture.url)
                    files[picture.url].map { onProblem($0, failure.detail) }
                } else {
                    stored += 1
                }
            }
            (group, length) = ([], 0)
            progress(stored)
        }
        for (url, path) in files.sorted(by: { $0.value < $1.value }) where try library.coverFile(for: url) == nil {
            if isCancelled() { return stored }
            do throws(MusicProblem) {
                group.append((try RegularFile.contents(of: path, maximumLength: CoverFacts.maximumLength).bytes, url))
                length += group[group.count - 1].body.count
            } catch {
                failed.insert(url)
                onProblem(path, error.reason)
            }
            if length > Self.groupSize { await storeGroup() }
        }
        await storeGroup()
        let edits = edits.filter { !failed.contains($0.album.coverURL ?? "") }
        if !edits.isEmpty { try await writer.edit(edits, in: library) }
        return stored
    }
}

extension WrittenFile {
    /// Whether another file is there by now, which is a person's. A file with the time of writing is not read.
    fileprivate var isReplaced: Bool {
        var status = stat()
        guard path.withCString({ stat($0, &status) }) == 0, FileStatus(status).modified != modified else {
            return false
        }
        let bytes = try? RegularFile.contents(of: path, maximumLength: CoverFacts.maximumLength).bytes
        return bytes.map { Digest(of: $0) != digest } ?? false
    }
}
