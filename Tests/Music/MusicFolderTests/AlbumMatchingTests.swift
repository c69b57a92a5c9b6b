import AlbumLibrary
import CoverSources
import Foundation
import Testing

@testable import MusicFolder

@Suite struct AlbumMatchingTests {
    private static let songs = [200_000, 184_000, 251_000, 223_000, 305_000, 190_000]

    private func album(
        _ title: String, by artist: String = "The Artists", year: Int? = nil, songs: [Int] = Self.songs,
        in folder: String = "/m/1"
    ) -> ScannedAlbum {
        var place = AlbumPlace()
        (place.folders, place.tracks) = ([BytePath(folder)], songs.count)
        let facts = AlbumQuery(artist: artist, title: title, year: year, trackCount: songs.count, lengths: songs)
        var album = ScannedAlbum()
        (album.facts, album.places) = (facts, [place])
        return album
    }

    /// Whether an album is one that the last scan has found.
    private func isSame(
        _ album: ScannedAlbum, as former: ScannedAlbum, isDeleted: Bool = false, isGone: Bool = false
    ) -> Bool {
        var record = AlbumRecord(id: "1")
        (record.facts, record.places) = (former.facts, former.places)
        let known = Album(
            id: "1", title: former.facts.title, artist: former.facts.artist,
            year: former.facts.year.map(String.init) ?? "")
        let matching = AlbumMatching(
            [album], library: isDeleted ? [] : [known], records: [record], isGone: { _ in isGone })
        return matching.ids == ["1"]
    }

    @Test func `songs that are gone from their folder and are elsewhere with other tags are the same album`() {
        let (former, moved) = (album("Sallt", by: "Unknown", year: 1998), album("Salt", by: "Ann Orr", in: "/m/2"))
        #expect(isSame(moved, as: former, isGone: true))
        #expect(!isSame(moved, as: former) && !isSame(moved, as: former, isDeleted: true, isGone: true))
        var other = moved
        other.facts.lengths[0] += 1
        #expect(!isSame(other, as: former, isGone: true))
    }

    @Test func `tags that were corrected make no other album, as the songs in the folder are the same`() {
        let former = album("Sallt", by: "Unknown", year: 1998)
        #expect(isSame(album("Salt", by: "Ann Orr", year: 2001), as: former))
        #expect(!isSame(album("Salt", by: "Ann Orr", year: 2001, in: "/m/2"), as: former))
        #expect(!isSame(album("Salt", by: "Ann Orr", year: 2001, songs: Self.songs.reversed()), as: former))
        #expect(!isSame(album("Salt", by: "Ann Orr", songs: Array(Self.songs.prefix(3))), as: former))
    }

    @Test func `without a year the songs say whether an album that has moved is the same`() {
        let former = album("Salt")
        #expect(isSame(album("Salt", in: "/m/2"), as: former))
        #expect(!isSame(album("Salt", songs: Self.songs.reversed(), in: "/m/2"), as: former))
        #expect(!isSame(album("Salt", songs: [], in: "/m/2"), as: former))
    }

    @Test func `an album of the same name and year with other songs is another one`() {
        let former = album("Salt", year: 2001)
        #expect(isSame(album("Salt", year: 2001, songs: Self.songs.map { $0 + 2_000 }, in: "/m/2"), as: former))
        #expect(!isSame(album("Salt", year: 2001, songs: Self.songs.map { $0 + 20_000 }, in: "/m/2"), as: former))
        // A single beside its album.
        #expect(!isSame(album("Salt", year: 2001, songs: [Self.songs[0]], in: "/m/2"), as: former))
    }

    @Test func `without lengths the names of files say it, in the same folder, or in one of that name elsewhere`() {
        func album(_ files: UInt64, in folder: String, tracks: Int = 5) -> ScannedAlbum {
            var album = self.album("Salt", songs: [], in: folder)
            album.facts.trackCounts = [tracks]
            album.places[0].namesDigest = files
            return album
        }
        let former = album(7, in: "/m/Salt")
        #expect(isSame(album(7, in: "/m/Salt", tracks: 6), as: former))
        #expect(!isSame(album(8, in: "/m/Salt", tracks: 6), as: former))
        #expect(isSame(album(7, in: "/other/Salt"), as: former))
        #expect(!isSame(album(7, in: "/other/Salt", tracks: 6), as: former))
        #expect(!isSame(album(8, in: "/other/Salt"), as: former))
        #expect(!isSame(album(7, in: "/m/Rust"), as: former))
    }

    @Test func `songs that arrive later belong to the album in whose folder they are`() {
        let former = album("Salt", year: 2001, songs: Array(Self.songs.prefix(2)))
        #expect(isSame(album("Salt", year: 2001), as: former))
    }

    @Test func `an album of the library comes before a deleted one, even before that of the same folder`() {
        let kept = album("Salt", year: 2001, in: "/m/1"), deleted = album("Salt", year: 2001, in: "/m/2")
        let records = [("kept", kept), ("deleted", deleted)].map { id, album in
            var record = AlbumRecord(id: id)
            (record.facts, record.places) = (album.facts, album.places)
            return record
        }
        let library = [Album(id: "kept", title: "Salt", artist: "The Artists", year: "2001")]
        #expect(AlbumMatching([deleted], library: library, records: records).ids == ["kept"])
        #expect(AlbumMatching([deleted], library: [], records: records).ids == ["deleted"])
    }

    @Test func `a deletion hides the same songs only`() {
        let former = album("Salt", year: 2001)
        #expect(isSame(album("Salt", year: 2001, in: "/m/2"), as: former, isDeleted: true))
        #expect(!isSame(album("Salt", year: 2001, songs: Self.songs.reversed()), as: former, isDeleted: true))
        #expect(!isSame(album("Salt"), as: former, isDeleted: true))
        #expect(!isSame(album("Rust", year: 2001), as: former, isDeleted: true))
    }

    @Test func `of a list, what names an album again is that one, and gives what it lacks`() throws {
        func album(_ artist: String, _ year: String, _ url: String?, release: String? = nil) -> Album {
            var album = Album(id: UUID().uuidString, title: "Low Tide", artist: artist, coverURL: url, year: year)
            album.musicBrainzReleaseID = release
            return album
        }
        let library = [album("The Harbour Lights", "", nil), album("Wren", "1971", "https://a.example/own")]
        let releases = (1...2).map { "0f0c1c2c-3c4c-4c5c-8c6c-00000000000\($0)" }
        let listed = try ListedAlbums(
            [
                album("Harbour Lights", "1971", "https://a.example/1"), album("The Harbour Lights", "1972", nil),
                album("wren", "1971", "https://a.example/2"), album("Vela", "1999", nil),
                album("VELA", "1999", "https://a.example/3"), album("Kolej", "1999", nil, release: releases[0]),
                album("Kolej", "1999", nil, release: releases[1]),
            ], library: library, nil)
        #expect(listed.edits.map(\.album.year) == ["1971"])
        #expect(listed.edits.map(\.album.coverURL) == ["https://a.example/1"])
        #expect(listed.new.map(\.artist) == ["The Harbour Lights", "Vela", "Kolej", "Kolej"])
        #expect(listed.new[1].coverURL == "https://a.example/3")
        #expect(listed.known == 2 && listed.ambiguous.isEmpty)
    }
}
