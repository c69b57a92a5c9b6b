import CoverSources
import Platform

@testable import MusicFolder

/// Folders with songs and pictures, without files.
struct Layout: Sendable, CustomStringConvertible {
    var description: String
    var folders: [String: [AudioTags]]
    var pictures: [String]
    var unread: [String]
    var roots: [String]
    var sleeves = SleevesPictures()
    /// Each album as `line` has it.
    var albums: [String]

    init(
        _ description: String, _ folders: [String: [AudioTags]], pictures: [String] = [], unread: [String] = [],
        roots: [String] = ["/m"], _ albums: String...
    ) {
        (self.description, self.folders, self.pictures, self.unread) = (description, folders, pictures, unread)
        (self.roots, self.albums) = (roots, albums)
    }

    var contents: [BytePath: FolderContents] {
        var listings: [String: FolderListing] = [:]
        for path in folders.keys { listings[path] = FolderListing(path: BytePath(path)) }
        for picture in pictures {
            let path = BytePath(picture)
            let entry = FolderListing.Entry(name: path.name, size: 1)
            let folder = path.parent!.description
            listings[folder, default: FolderListing(path: path.parent!)].pictures.append(entry)
        }
        return listings.reduce(into: [:]) { contents, entry in
            var listing = entry.value
            let tags = folders[entry.key] ?? []
            listing.audio = tags.indices.map { FolderListing.Entry(name: Array("\(1_000 + $0).mp3".utf8)) }
            contents[listing.path] = FolderContents(of: listing, tags: tags, problems: []) {
                $0.mediaType = "image/jpeg"
            }
        }
    }

    var found: [ScannedAlbum] {
        AlbumGrouper.albums(
            of: contents, roots: roots.map { BytePath($0) }, unread: unread.map { BytePath($0) }, sleeves: sleeves)
    }

    /// `Artist: Title (1971) 12 tracks in /m/a + /m/b`: the folders that a cover belongs into; with `-` for places where none may be.
    static func line(_ album: ScannedAlbum) -> String {
        let (year, counts) = (album.facts.year.map { " (\($0))" } ?? "", album.facts.trackCounts.sorted())
        let numbers = counts.isEmpty ? "?" : counts.map { "\($0)" }.joined(separator: "/")
        let places = album.places.map { place in
            (place.isShared ? "-" : "") + place.coverFolders.map(\.description).joined(separator: ",")
        }
        let why = album.whyUnsearchable == nil ? "" : " unsearchable"
        return "\(album.artist): \(album.title)\(year) \(numbers) in \(places.joined(separator: " + "))\(why)"
    }
}

/// Songs of an album, whose titles and lengths follow from `songs`.
func tracks(
    _ numbers: ClosedRange<Int>, _ album: String = "Low Tide", by artist: String = "A", albumArtist: String = "",
    year: String = "", original: String = "", disc: Int? = nil, of discs: Int? = nil, total: Int? = nil,
    side: Int? = nil, id: String? = nil, group: String? = nil, songs: String? = nil, isTimed: Bool = true,
    isNumbered: Bool = true, picture: String? = nil
) -> [AudioTags] {
    numbers.map { number in
        var tags = AudioTags()
        (tags.album, tags.artist, tags.albumArtist, tags.year) = (album, artist, albumArtist, year)
        tags.originalYear = original
        (tags.disc, tags.discTotal, tags.trackTotal, tags.side) = (disc, discs, total, side)
        tags.track = isNumbered ? number : nil
        tags.title = "\(songs ?? "\(album)\(disc.map { "\($0)" } ?? "")\(side.map { "\($0)" } ?? "")") \(number)"
        tags.length = isTimed ? 60_000 + Int(FNV1a.hash(tags.title) % 300_000) : nil
        (tags.releaseID, tags.releaseGroupID) = (id, group)
        tags.picture = picture.map { EmbeddedPicture(type: 3, byteCount: 1, digest: Digest(of: $0.utf8)) }
        return tags
    }
}

/// Songs with an artist each.
func by(_ artists: String..., album: String = "Low Tide", albumArtist: String = "", from: Int = 1) -> [AudioTags] {
    artists.enumerated().map { index, artist in
        tracks(from + index...from + index, album, by: artist, albumArtist: albumArtist, songs: artist)[0]
    }
}
