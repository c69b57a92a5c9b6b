import AlbumLibrary
import Testing

@testable import MusicFolder

@Suite struct LibraryUpdateTests {
    private func scanned(_ title: String, year: String = "1971", release: String? = nil, in folder: String)
        -> ScannedAlbum
    {
        var album = ScannedAlbum()
        (album.title, album.artist, album.year, album.releaseID) = (title, "A", year, release)
        var place = AlbumPlace()
        place.folders = [BytePath(folder)]
        album.places = [place]
        return album
    }

    /// A library that a scan has made of `albums`, with its records.
    private func library(_ albums: [ScannedAlbum]) -> (albums: [Album], records: [AlbumRecord]) {
        let update = LibraryUpdate(albums, library: [], records: []) { _ in false }
        let records = update.records.map { record in
            var record = record
            record.isPending = false
            return record
        }
        return (update.additions, records)
    }

    @Test func `what a scan has added is unchanged by the next one`() {
        let albums = [scanned("One", in: "/m/1"), scanned("Two", release: "r", in: "/m/2")]
        let known = library(albums)
        let update = LibraryUpdate(albums, library: known.albums, records: known.records) { _ in false }
        #expect(known.albums.map(\.title) == ["One", "Two"])
        #expect(update.additions.isEmpty && update.edits.isEmpty && update.records.isEmpty && update.gone.isEmpty)
        #expect(update.ids == known.albums.map(\.id))
    }

    @Test func `a field follows the tags until a person edits it`() {
        var known = library([scanned("One", in: "/m/1")])
        let changed = [scanned("Uno", year: "1972", in: "/m/1")]
        let update = LibraryUpdate(changed, library: known.albums, records: known.records) { _ in false }
        #expect(update.edits.map { [$0.album.title, $0.album.year] } == [["Uno", "1972"]])
        known.albums[0].title = "Mine"
        let edited = LibraryUpdate(changed, library: known.albums, records: known.records) { _ in false }
        #expect(edited.edits.map { [$0.album.title, $0.album.year] } == [["Mine", "1972"]])
        known.albums[0].year = ""
        #expect(LibraryUpdate(changed, library: known.albums, records: known.records) { _ in false }.edits.isEmpty)
    }

    @Test func `an album whose title or release a person has edited is still found, also beside others in its folder`()
    {
        let albums = [scanned("One", release: "r", in: "/m"), scanned("Two", in: "/m")]
        var known = library(albums)
        known.albums[0].musicBrainzReleaseID = "other"
        known.albums[1].title = "Mine"
        let update = LibraryUpdate(albums, library: known.albums, records: known.records) { _ in false }
        #expect(update.additions.isEmpty && update.edits.isEmpty && update.ids == known.albums.map(\.id))
    }

    @Test func `a person's album gains empty fields only`() {
        var mine = Album(title: "one", artist: "a", year: "")
        mine.genre = "Folk"
        let update = LibraryUpdate([scanned("One", release: "r", in: "/m/1")], library: [mine], records: []) { _ in
            false
        }
        #expect(update.additions.isEmpty && update.edits.count == 1)
        let album = update.edits[0].album
        #expect(
            album.title == "one" && album.artist == "a" && album.year == "1971" && album.musicBrainzReleaseID == "r")
        #expect(update.records.map(\.isAdded) == [false])
    }

    @Test func `an album is found by its release before its title, and not if its release is another`() {
        var other = Album(title: "Other", artist: "B")
        other.musicBrainzReleaseID = "R"
        let byRelease = LibraryUpdate([scanned("One", release: "r", in: "/m/1")], library: [other], records: []) { _ in
            false
        }
        #expect(byRelease.additions.isEmpty && byRelease.ids == [other.id])
        var same = Album(title: "One", artist: "A")
        same.musicBrainzReleaseID = "x"
        let differs = LibraryUpdate([scanned("One", release: "r", in: "/m/1")], library: [same], records: []) { _ in
            false
        }
        #expect(differs.additions.count == 1)
        let year = LibraryUpdate(
            [scanned("One", in: "/m/1")], library: [Album(title: "One", artist: "A", year: "1999")], records: []
        ) { _ in false }
        #expect(year.additions.count == 1)
    }

    @Test func `a deleted album is not added again, not even from another folder, and is if asked`() {
        let known = library([scanned("One", in: "/m/1")])
        for folder in ["/m/1", "/m/9"] {
            let update = LibraryUpdate([scanned("One", in: folder)], library: [], records: known.records) { _ in true }
            #expect(update.additions.isEmpty && update.deleted.count == 1 && update.removedRecords.isEmpty)
        }
        var options = LibraryUpdateOptions()
        options.restoresDeleted = true
        let restored = LibraryUpdate(
            [scanned("One", in: "/m/1")], library: [], records: known.records, options: options
        ) { _ in true }
        #expect(restored.additions.count == 1 && restored.deleted.isEmpty)
    }

    @Test func `an addition that a crash kept out of the library is added again`() {
        let update = LibraryUpdate([scanned("One", in: "/m/1")], library: [], records: []) { _ in false }
        #expect(update.records.map(\.isPending) == [true])
        let again = LibraryUpdate([scanned("One", in: "/m/1")], library: [], records: update.records) { _ in false }
        #expect(again.additions.count == 1 && again.deleted.isEmpty)
    }

    @Test func `only albums of looked-for folders are gone, and only a scan's own unedited ones can be pruned`() {
        var known = library([scanned("One", in: "/m/1"), scanned("Two", in: "/m/2"), scanned("Three", in: "/n/3")])
        known.albums[1].genre = "Folk"
        let update = LibraryUpdate([], library: known.albums, records: known.records) { $0.isInside(BytePath("/m")) }
        #expect(update.gone.map(\.title) == ["One", "Two"] && update.prunable == [known.albums[0].id])
        #expect(update.records.isEmpty && update.removedRecords.isEmpty)
        var options = LibraryUpdateOptions()
        options.prunes = true
        let pruning = LibraryUpdate([], library: known.albums, records: known.records, options: options) {
            $0.isInside(BytePath("/m"))
        }
        #expect(pruning.removedRecords == [known.albums[0].id])
        #expect(pruning.records.map(\.id) == [known.albums[1].id] && pruning.records[0].places.isEmpty)
    }

    @Test func `an album that has moved keeps its entry`() {
        let known = library([scanned("One", in: "/m/1")])
        let update = LibraryUpdate([scanned("One", in: "/m/new")], library: known.albums, records: known.records) { _ in
            true
        }
        #expect(update.additions.isEmpty && update.gone.isEmpty)
        #expect(update.records.map { $0.places.map(\.folders) } == [[[BytePath("/m/new")]]])
    }

    @Test func `two albums of one title have two ids`() {
        let update = LibraryUpdate(
            [scanned("One", release: "r", in: "/m/1"), scanned("One", release: "s", in: "/m/2")], library: [],
            records: []
        ) { _ in false }
        #expect(Set(update.additions.map(\.id)).count == 2)
    }
}
