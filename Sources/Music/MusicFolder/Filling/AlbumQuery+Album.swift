package import AlbumLibrary
package import CoverSources
import Platform

extension AlbumQuery {
    /// An album of the library, as sources are asked for it.
    package init(_ album: Album) {
        self.init(
            artist: album.artist, title: album.title, year: Self.year(of: album.year),
            releaseID: album.musicBrainzReleaseID, releaseGroupID: album.musicBrainzReleaseGroupID)
    }

    /// An album of scanned folders, as sources are asked for it: the facts of the scan, with a person's edits in their place.
    package init(_ facts: AlbumQuery, edited album: Album) {
        let year = Self.year(of: album.year)
        self.init(
            artist: album.artist, otherArtists: album.artist == facts.artist ? facts.otherArtists : [],
            title: album.title, year: year, originalYear: year == facts.year ? facts.originalYear : nil,
            trackCounts: facts.trackCounts, lengths: facts.lengths, releaseID: album.musicBrainzReleaseID,
            releaseGroupID: album.musicBrainzReleaseGroupID)
        if album.title == facts.title, album.artist == facts.artist { setLengths = facts.setLengths }
    }

    /// Milliseconds by which copies of one song in several formats differ.
    private static let copyTolerance = 1_000

    /// Whether no fact of the album has changed by which covers are judged. The songs may be other copies of the same ones.
    func hasFacts(of other: AlbumQuery) -> Bool {
        func areCopies(_ first: [Int], _ second: [Int]) -> Bool {
            first.count == second.count && zip(first, second).allSatisfy { abs($0 - $1) <= Self.copyTolerance }
        }
        var same = other
        (same.lengths, same.setLengths, same.hasNamesake) = (lengths, setLengths, hasNamesake)
        return self == same && areCopies(lengths, other.lengths) && areCopies(setLengths ?? [], other.setLengths ?? [])
    }
}

/// The names of a library's albums: one whose name another one has, too, needs more evidence.
struct Namesakes {
    private var counts: [String: Int] = [:]

    init(_ albums: [Album]) { for album in albums { counts[AlbumMatching.name(AlbumQuery(album)), default: 0] += 1 } }

    func mark(_ query: inout AlbumQuery) { query.hasNamesake = counts[AlbumMatching.name(query), default: 0] > 1 }
}
