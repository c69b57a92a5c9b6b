package import AlbumLibrary
import CoverSources

/// Which albums of a list a library has already, under other ids: those that a scan has added, and those of other lists.
///
/// The one with its MusicBrainz release, unless artist or title contradict; else the one with its artist, title and year. Where a year is not known, the
/// only one with its artist and title. What a list names again, with the same year, is one album, too.
package struct ListedAlbums {
    /// The albums that the library does not have.
    package private(set) var new: [Album] = []
    /// The albums of the library that lack what the list has: the address of the cover, the genre, the year, ids. An address that a fill gave is none.
    package private(set) var edits: [(former: Album, album: Album)] = []
    /// The number of those that the library has, with all that the list says.
    package private(set) var known = 0
    /// Those that fit several albums of the library, with these.
    package private(set) var ambiguous: [(album: Album, others: [Album])] = []

    private let library: [Album]
    private let facts: [[AlbumQuery]]
    private var byName: [String: Set<Int>] = [:]
    private var byRelease: [String: Set<Int>] = [:]
    private let filled: [Album.ID: FilledAddress]

    /// - Parameter state: What scans and fills have remembered; nil if there was none.
    /// - Throws: `MusicState.Problem`.
    package init(_ albums: [Album], library: [Album], _ state: MusicState?) throws {
        let records = Dictionary(try state?.albums().map { ($0.id, $0.facts) } ?? []) { first, _ in first }
        (self.library, filled) = (library, try state?.filledAddresses() ?? [:])
        facts = library.map { [AlbumQuery($0)] + [records[$0.id]].compactMap(\.self) }
        for (index, names) in facts.enumerated() {
            for facts in names {
                byName[AlbumMatching.name(facts), default: []].insert(index)
                if let release = facts.releaseID { byRelease[release, default: []].insert(index) }
            }
        }
        let ids = Set(library.map(\.id))
        var (edited, named) = ([Int: Album](), [String: Int]())
        for album in albums {
            if ids.contains(album.id) {
                known += 1
                continue
            }
            let query = AlbumQuery(album)
            let found = same(as: query).filter { index in
                // The list has given it its year.
                edited[index].map { [library[index].year, album.year].contains($0.year) } ?? true
            }
            switch found.count {
            case 0:
                let name = query.year.map { "\($0)|\(query.releaseID ?? "")|\(AlbumMatching.name(query))" }
                if let name, let first = named[name] {
                    new[first] = adding(album, to: new[first])
                    known += 1
                } else {
                    if let name { named[name] = new.count }
                    new.append(album)
                }
            case 1:
                let former = edited[found[0]] ?? library[found[0]]
                let now = adding(album, to: former)
                if now == former { known += 1 } else { edited[found[0]] = now }
            default: ambiguous.append((album, found.map { library[$0] }))
            }
        }
        edits = edited.sorted { $0.key < $1.key }.map { (library[$0.key], $0.value) }
    }

    private func same(as album: AlbumQuery) -> [Int] {
        let release = album.releaseID.flatMap { byRelease[$0] } ?? []
        let sameRelease = release.filter { facts[$0].contains { !AlbumMatching.contradict($0, album) } }
        if !sameRelease.isEmpty { return sameRelease.sorted() }
        let name = AlbumMatching.name(album)
        let named = (byName[name] ?? []).filter { index in
            facts[index].allSatisfy { $0.releaseID == nil || album.releaseID == nil || $0.releaseID == album.releaseID }
        }
        let sameYear = named.filter { facts[$0].contains { $0.year == album.year && AlbumMatching.name($0) == name } }
        if !sameYear.isEmpty { return sameYear.sorted() }
        let withoutYear = named.filter { index in album.year == nil || facts[index].allSatisfy { $0.year == nil } }
        return withoutYear.sorted()
    }

    private func adding(_ listed: Album, to former: Album) -> Album {
        var album = former
        if former.coverURL?.isEmpty != false || filled[former.id]?.isAddress(of: former) == true {
            let urls = [listed.coverURL].compactMap(\.self).filter { !$0.isEmpty } + listed.alternateCoverURLs
            if let first = urls.first {
                album.coverURL = first
                if former.alternateCoverURLs.isEmpty { album.alternateCoverURLs = Array(urls.dropFirst()) }
            }
        }
        if former.genre.isEmpty { album.genre = listed.genre }
        if former.year.isEmpty { album.year = listed.year }
        if former.musicBrainzReleaseID == nil { album.musicBrainzReleaseID = listed.musicBrainzReleaseID }
        if former.musicBrainzReleaseGroupID == nil {
            album.musicBrainzReleaseGroupID = listed.musicBrainzReleaseGroupID
        }
        return album
    }
}
