import AlbumLibrary
import Platform

/// A cover that is exported: a cached one, or a person's own file.
struct ExportCover: Sendable, Hashable {
    var digest: Digest
    /// Length in bytes.
    var bytes: Int
    var mediaType: String
    /// The file beside the music; nil for a cached cover.
    var file: BytePath?
}

/// Which file gets which cover. A value: it knows neither the cache nor the folder.
///
/// Albums whose names are the same to some file system are numbered in the order of their years and ids, whether their covers are cached or
/// not: neither the order of the library nor a new cover changes the number of another album. Folders whose names differ only in case or composition are one folder, which is spelled as the first album spells it.
struct ExportPlan {
    struct Item: Hashable {
        /// An album whose cover it is.
        var albumID: String
        var path: [String]
        var cover: ExportCover
    }

    /// Files to be there, by path. Albums of one name with the same cover have one file.
    private(set) var items: [Item] = []
    /// Ids of albums whose cover is not cached.
    private(set) var missing: Set<String> = []

    init(_ albums: [(album: Album, cover: ExportCover?)], _ pattern: ExportPattern) {
        var names = Names()
        for (album, cover) in albums.sorted(by: { Self.precedes($0.album, $1.album) }) {
            let path = names.path(of: album, cover, pattern)
            guard let cover else {
                missing.insert(album.id)
                continue
            }
            if let path { items.append(Item(albumID: album.id, path: path, cover: cover)) }
        }
        items.sort { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// By the year, unknown ones last, and the id.
    private static func precedes(_ one: Album, _ other: Album) -> Bool {
        if one.year == other.year { return one.id < other.id }
        return one.year.isEmpty || other.year.isEmpty ? other.year.isEmpty : one.year < other.year
    }

    /// The names that are given away.
    private struct Names {
        /// The spelling of each folder's name, by its folded path.
        private var spellings: [String: String] = [:]
        private var taken: Set<String> = []
        /// The last number of each folded path.
        private var numbers: [String: Int] = [:]
        /// The covers of each folded path.
        private var shared: [String: Set<ExportCover>] = [:]

        /// - Returns: Nil if an album of the same name has the same cover, which has a file then.
        mutating func path(of album: Album, _ cover: ExportCover?, _ pattern: ExportPattern) -> [String]? {
            let base = key(of: album, cover, pattern, number: 1)
            var number = numbers[base] ?? 1
            while !taken.insert(key(of: album, cover, pattern, number: number)).inserted { number += 1 }
            numbers[base] = number + 1
            if let cover, !shared[base, default: []].insert(cover).inserted { return nil }
            return spelled(pattern.path(of: album, cover, number: number))
        }

        /// The same for every type of the cover: a number must not depend on what is cached.
        private func key(of album: Album, _ cover: ExportCover?, _ pattern: ExportPattern, number: Int) -> String {
            let digest = cover?.digest ?? Digest(of: Array(album.id.utf8))
            return pattern.path(
                of: album, ExportCover(digest: digest, bytes: 0, mediaType: "image/jpeg"), number: number
            )
            .map(SafeName.folded).joined(separator: "/")
        }

        private mutating func spelled(_ path: [String]) -> [String] {
            var (path, key) = (path, "")
            for index in path.indices.dropLast() {
                key += "/" + SafeName.folded(path[index])
                if let spelling = spellings[key] { path[index] = spelling } else { spellings[key] = path[index] }
            }
            return path
        }
    }
}

/// How covers are exported.
package struct ExportOptions: Sendable, Hashable {
    package var pattern: ExportPattern
    /// Write covers whose longest side has at most this many pixels, as baseline JPEG; nil for covers as they are.
    package var longestSide: Int?
    /// Remove files that exports of this library wrote and that belong to no album's cover any more.
    package var prunes = false
    /// Report what would be done, and do nothing.
    package var isDryRun = false

    package init(_ pattern: ExportPattern) { self.pattern = pattern }
}

/// The result of `LibraryAPI.export`.
package struct ExportSummary: Sendable, Hashable {
    /// Albums of the library.
    package var albums = 0
    /// Files that were written, new or in place of an older version that an export had written.
    package var written = 0
    /// Files that have their cover already.
    package var unchanged = 0
    /// Files that no export of this library wrote, or that were changed since. They stay as they are.
    package var kept = 0
    /// Albums whose cover is not cached.
    package var missing = 0
    /// Covers that could not be written, or are no pictures of the type that the pattern names.
    package var failed = 0
    /// Files of albums or names that are gone. They were removed if the options say so, and stay otherwise.
    package var outdated = 0
    /// Length of the written files.
    package var bytes = 0
    /// Why the run ended before all covers were written.
    package var stopReason: String?
    package var isCancelled = false

    package init() {}
}

/// What an export does with one file.
package enum ExportEvent: Sendable, Hashable {
    case written(path: String, isNew: Bool)
    case kept(path: String, reason: String)
    case failed(path: String, reason: String)
    case removed(path: String)
}
