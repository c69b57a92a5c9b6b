import AlbumLibrary
import CoverSources
import Platform
import Testing

@testable import MusicFolder

@Suite struct LibraryUpdateTests {
    private static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
    private static let other = "11111111-2222-4333-8444-55555555555a"

    /// An album in a folder, with as many songs as `lengths`, whose lengths are unknown if it is empty.
    private func scanned(
        _ title: String, by artist: String = "The Artists", year: String = "1971", release: String? = nil,
        in folder: String
    ) -> ScannedAlbum {
        var album = ScannedAlbum()
        album.facts = AlbumQuery(artist: artist, title: title, year: Int(year), releaseID: release)
        var place = AlbumPlace()
        (place.folders, place.tracks) = ([BytePath(folder)], 5)
        album.places = [place]
        return album
    }

    private func scanned(_ title: String, in folder: String, cover name: String) -> ScannedAlbum {
        var album = scanned(title, in: folder)
        var cover = CoverFile(path: BytePath("\(folder)/\(name)"))
        cover.mediaType = "image/jpeg"
        album.places[0].cover = cover
        return album
    }

    private func update(
        _ scanned: [ScannedAlbum], _ library: Library = Library(), decisions: [Album.ID: Decisions] = [:],
        options: LibraryUpdateOptions = .init(), isAway: @escaping @Sendable (BytePath) -> Bool = { _ in false },
        filled: @escaping @Sendable (BytePath) -> Album.ID? = { _ in nil },
        isGone: @escaping @Sendable (BytePath) -> Bool = { _ in false }
    ) -> LibraryUpdate {
        LibraryUpdate(
            scanned, library: library.albums, records: library.records, decisions: decisions,
            filled: library.filled, options: options,
            places: .init(isGone: isGone, isAway: isAway, filled: filled))
    }

    /// The albums of a library, with what is remembered of them.
    private struct Library {
        var albums: [Album] = []
        var records: [AlbumRecord] = []
        /// The addresses that fills have given.
        var filled: [Album.ID: FilledAddress] = [:]

        init() {}

        /// Those of a person.
        init(_ albums: [Album]) { self.albums = albums }

        /// What a scan has made of nothing.
        init(_ update: LibraryUpdate) {
            albums = update.additions
            records = update.records.map { record in
                var record = record
                record.isPending = false
                return record
            }
        }
    }

    private func library(_ albums: [ScannedAlbum]) -> Library { Library(update(albums)) }

    // MARK: Which album it is

    @Test func `an id of a decision is given to no other album`() {
        let known = library([scanned("One", in: "/m/1"), scanned("Two", in: "/m/2")])
        var left = known
        left.albums.removeAll()
        left.records.removeFirst()
        let albums = [scanned("One", in: "/n/1")]
        #expect(update(albums, left).additions.map(\.id) == [known.albums[0].id])
        let ids = update(albums, left, decisions: [known.albums[0].id: .init()]).additions.map(\.id)
        #expect(ids == ["\(known.albums[0].id)-2"])
    }

    @Test func `what was refused for an album holds for each part that it is divided into, and for no namesake`() {
        func songs(_ title: String, _ lengths: [Int], in folder: String) -> ScannedAlbum {
            var album = scanned(title, in: folder)
            album.facts.lengths = lengths
            return album
        }
        let known = library([songs("One", [60_000, 70_000, 80_000, 90_000], in: "/m/1")])
        let id = known.albums[0].id
        let picture = PictureName(.deezer, AlbumQuery(artist: "", title: ""), urls: ["https://a.test/1.jpg"])
        let said = [Decision(.refused, picture, of: id), Decision(.accepted, picture, of: id)]
        let parts = [
            songs("One", [60_000, 70_000], in: "/m/1"), songs("Two", [80_000, 90_000], in: "/m/1"),
            songs("One (Live)", [61_000, 71_000], in: "/m/1"), songs("Three", [80_000, 90_000], in: "/m/2"),
        ]
        let divided = update(parts, known, decisions: [id: Decisions(Array(said.prefix(1)))])
        #expect(divided.ids[0] == id)
        #expect(divided.inherited.map(\.album) == [divided.ids[1]])
        #expect(divided.inherited.map(\.picture) == [picture])
        let accepted = update(parts, known, decisions: [id: Decisions(Array(said.suffix(1)))])
        #expect(accepted.inherited.map(\.album) == [id], "neither part has three quarters")
        #expect(accepted.inherited.map(\.verdict) == [.allowed])
    }

    @Test(arguments: [(3, [.allowed, .accepted]), (1, []), (0, [])] as [(Int, [Decision.Verdict])])
    func `an acceptance is that of the part with three quarters of the songs`(
        moved: Int, expected: [Decision.Verdict]
    ) {
        let lengths = [60_000, 70_000, 80_000, 90_000]
        func songs(_ title: String, _ lengths: ArraySlice<Int>) -> ScannedAlbum {
            var album = scanned(title, in: "/m/1")
            album.facts.lengths = Array(lengths)
            return album
        }
        let known = library([songs("One", lengths[...])])
        let id = known.albums[0].id
        let picture = PictureName(.deezer, AlbumQuery(artist: "", title: ""), urls: ["https://a.test/1.jpg"])
        let said = [id: Decisions([Decision(.accepted, picture, of: id)])]
        // The rest keeps the title, and the id.
        let parts = [songs("One", lengths.dropLast(moved)), songs("Two", lengths.suffix(max(1, moved)))]
        let divided = update(parts, known, decisions: said)
        #expect(divided.ids[0] == id)
        #expect(divided.inherited.map(\.verdict) == expected, "a song that is in both was not moved")
        #expect(divided.inherited.map(\.album) == (expected.isEmpty ? [] : [id, divided.ids[1]]))
    }

    @Test(arguments: [true, false])
    func `of albums that were joined the newest acceptance counts`(isNewer: Bool) {
        let lengths = (1...8).map { 60_000 + $0 * 7_000 }
        func songs(_ title: String, _ lengths: ArraySlice<Int>, in folder: String) -> ScannedAlbum {
            var album = scanned(title, in: folder)
            album.facts.lengths = Array(lengths)
            return album
        }
        let known = library([
            songs("One", lengths.prefix(4), in: "/m/1"), songs("Two", lengths.suffix(4), in: "/m/2"),
        ])
        let ids = known.albums.map(\.id)
        func said(_ time: Int64, of id: String) -> Decisions {
            let picture = PictureName(.deezer, AlbumQuery(artist: "", title: ""), urls: ["https://a.test/\(id).jpg"])
            return Decisions([Decision(.accepted, picture, of: id, time: time)])
        }
        let decisions = [ids[0]: said(2, of: ids[0]), ids[1]: said(isNewer ? 3 : 1, of: ids[1])]
        let joined = update(
            [songs("One", lengths[...], in: "/m/1")], known, decisions: decisions, isGone: { $0 == BytePath("/m/2") })
        #expect(joined.ids == [ids[0]])
        #expect(joined.inherited.map(\.album) == (isNewer ? [ids[0]] : []))
        // A scan of the other folder alone says nothing of it.
        #expect(update([songs("One", lengths[...], in: "/m/1")], known, decisions: decisions).inherited.isEmpty)
    }

    @Test func `of several acceptances of joined albums the newest is said last`() {
        func songs(_ title: String, _ lengths: [Int], in folder: String) -> ScannedAlbum {
            var album = scanned(title, in: folder)
            album.facts.lengths = lengths
            return album
        }
        let lengths = (0..<6).map { album in (1...4).map { 60_000 + album * 40_000 + $0 * 7_000 } }
        let known = library(lengths.enumerated().map { songs("\($0)", $1, in: "/m/\($0)") })
        let times: [Int64] = [3, 5, 1, 6, 2, 4]
        let decisions = zip(known.albums, times).map { album, time in
            let picture = PictureName(.deezer, AlbumQuery(artist: "", title: ""), urls: ["https://a.test/\(time)"])
            return (album.id, Decisions([Decision(.accepted, picture, of: album.id, time: time)]))
        }
        let joined = update(
            [songs("0", lengths.flatMap(\.self), in: "/m/0")], known,
            decisions: Dictionary(uniqueKeysWithValues: decisions), isGone: { $0 != BytePath("/m/0") })
        #expect(joined.inherited.map(\.time) == [4, 5, 6], "those that are newer than its own")
        #expect(Set(joined.inherited.map(\.album)) == [known.albums[0].id])
    }

    @Test func `what a scan has added is unchanged by the next one`() {
        let albums = [scanned("One", in: "/m/1"), scanned("Two", release: Self.release, in: "/m/2")]
        let known = library(albums)
        let update = update(albums, known)
        #expect(known.albums.map(\.title) == ["One", "Two"])
        #expect(update.additions.isEmpty && update.edits.isEmpty && update.records.isEmpty && update.gone.isEmpty)
        #expect(update.ids == known.albums.map(\.id))
    }

    @Test func `a folder that is used again has another album, and the former one stays and is gone from there`() {
        var known = library([scanned("Salt", by: "Ann Orr", year: "2001", in: "/m/Inbox")])
        known.albums[0].genre = "Mine"
        known.albums[0].coverFilePath = Array("/m/Inbox/cover.jpg".utf8)
        let update = update(
            [scanned("Rust", by: "Bo Pike", year: "2002", in: "/m/Inbox")], known, isGone: { _ in true })
        #expect(update.additions.map(\.title) == ["Rust"] && update.ids == update.additions.map(\.id))
        #expect(update.gone.map(\.title) == ["Salt"])
        // The file there is the new album's.
        #expect(update.edits.map(\.album) == [known.albums[0].withoutCoverFile])
    }

    @Test(arguments: ["1972", "1970", ""])
    func `a year nearby, or none, is not the same year`(year: String) {
        let known = library([scanned("Salt", in: "/m/1")])
        let update = update([scanned("Salt", year: year, in: "/m/2")], known)
        #expect(update.additions.count == 1)
    }

    @Test func `an album that has moved keeps its entry`() {
        let known = library([scanned("One", in: "/m/1")])
        let update = update([scanned("One", in: "/m/new")], known, isGone: { _ in true })
        #expect(update.additions.isEmpty && update.gone.isEmpty)
        #expect(update.records.map { $0.places.map(\.folders) } == [[[BytePath("/m/new")]]])
    }

    @Test func `it keeps its entry if it was the last one in its folder, too, which may look like a disk that is away`()
    {
        let known = library([scanned("One", in: "/m/1")])
        let update = update([scanned("One", in: "/n/1")], known, isAway: { _ in true }, isGone: { _ in true })
        #expect(update.records.map { $0.places.map(\.folders) } == [[[BytePath("/n/1")]]])
    }

    @Test func `an album in a second folder is in both`() {
        let known = library([scanned("One", in: "/m/1")])
        let update = update([scanned("One", in: "/other/1")], known)
        #expect(update.additions.isEmpty && update.records.map(\.places.count) == [2])
    }

    @Test func `a title with a letter put right, a release that it gets, and another folder keep the entry`() {
        let known = library([scanned("Sallt", by: "Ann Orr", in: "/m/1")])
        let retagged = scanned("Salt", by: "Ann Orr", release: Self.release, in: "/m/1")
        let update = update([retagged], known)
        #expect(update.additions.isEmpty && update.edits.map(\.album.title) == ["Salt"])
        let again = Library(self.update([retagged]))
        let moved = self.update(
            [scanned("Salt!", by: "Ann Orr", year: "2001", release: Self.release, in: "/m/2")], again)
        #expect(moved.additions.isEmpty && moved.ids == again.albums.map(\.id))
    }

    @Test func `a release says nothing if artist or title say that it is another`() {
        let known = library([scanned("Salt", by: "Ann Orr", release: Self.release, in: "/m/1")])
        let update = update([scanned("Rust", by: "Bo Pike", release: Self.release, in: "/m/2")], known)
        #expect(update.additions.count == 1)
    }

    @Test func `a person's album without a year is found by its name, unless another one has that`() {
        let albums = Library([Album(title: "one", artist: "the artists")])
        #expect(update([scanned("One", in: "/m/1")], albums).additions.isEmpty)
        #expect(
            update([scanned("One", in: "/m/1"), scanned("One", year: "1980", in: "/m/2")], albums).additions.count == 2)
        let other = Library([Album(title: "One", artist: "The Artists", year: "1999")])
        #expect(update([scanned("One", in: "/m/1")], other).additions.count == 1)
    }

    @Test func `two albums of one title have two ids`() {
        let two = [scanned("One", release: Self.release, in: "/m/1"), scanned("One", release: Self.other, in: "/m/2")]
        let first = update(two)
        #expect(Set(first.additions.map(\.id)).count == 2)
        // They are not one because one of them was found first.
        let later = update(two, Library(update([two[0]])))
        #expect(later.additions.count == 1)
    }

    // MARK: Fields

    @Test func `a field follows the tags until a person edits it`() {
        var known = library([scanned("Sallt", year: "", in: "/m/1")])
        let changed = [scanned("Salt", year: "1972", in: "/m/1")]
        #expect(update(changed, known).edits.map { [$0.album.title, $0.album.year] } == [["Salt", "1972"]])
        known.albums[0].title = "Mine"
        #expect(update(changed, known).edits.map { [$0.album.title, $0.album.year] } == [["Mine", "1972"]])
        known.albums[0].year = "1999"
        #expect(update(changed, known).edits.isEmpty)
    }

    @Test func `an album whose title or release a person has edited is still found, also beside others in its folder`()
    {
        let albums = [scanned("One", release: Self.release, in: "/m"), scanned("Two", in: "/m")]
        var known = library(albums)
        known.albums[0].musicBrainzReleaseID = Self.other
        known.albums[1].title = "Mine"
        let update = update(albums, known)
        #expect(update.additions.isEmpty && update.edits.isEmpty && update.ids == known.albums.map(\.id))
    }

    @Test func `a person's album gains empty fields only`() {
        var mine = Album(title: "one", artist: "the artists", year: "")
        mine.genre = "Folk"
        let update = update([scanned("One", release: Self.release, in: "/m/1")], Library([mine]))
        #expect(update.additions.isEmpty && update.edits.count == 1)
        let album = update.edits[0].album
        #expect(
            album.title == "one" && album.artist == "the artists" && album.year == "1971" && album.genre == "Folk"
                && album.musicBrainzReleaseID == Self.release)
        #expect(update.records.map(\.isAdded) == [false])
    }

    // MARK: Addresses and files

    @Test func `a person's file is the cover of an album without an address, and in place of a fill's`() {
        let albums = [scanned("One", in: "/m/1", cover: "folder.jpg")]
        var known = library(albums)
        let path = Array("/m/1/folder.jpg".utf8)
        #expect(known.albums[0].coverFilePath == path)
        known.albums[0].coverURL = "https://a.example/1"
        // A person's address comes first.
        #expect(update(albums, known).edits.map(\.album.coverFilePath) == [nil])
        let id = known.albums[0].id
        known.filled[id] = FilledAddress(url: "https://a.example/1", facts: albums[0].facts)
        #expect(update(albums, known).edits.isEmpty)
        #expect(update(albums, known, filled: { _ in id }).edits.map(\.album.coverFilePath) == [nil])
        known.albums[0].coverURL = nil
        #expect(update(albums, known, filled: { _ in id }).edits.isEmpty)
        let formers = update(albums, known, filled: { _ in "another" })
        #expect(formers.edits.map(\.album.coverFilePath) == [nil], "that of an album which was here before")
    }

    @Test func `a file that was removed, is renamed, or is that of several albums is no cover any more`() {
        let known = library([scanned("One", in: "/m/1", cover: "cover.jpg")])
        #expect(update([scanned("One", in: "/m/1")], known).edits.map(\.album.coverFile) == [nil])
        let renamed = update([scanned("One", in: "/m/1", cover: "front.jpg")], known)
        #expect(renamed.edits.map(\.album.coverFile) == ["/m/1/front.jpg"])
        var shared = scanned("One", in: "/m/1", cover: "cover.jpg")
        shared.places[0].isShared = true
        #expect(update([shared], known).edits.map(\.album.coverFile) == [nil])
    }

    @Test func `a fill's address goes with the name that it was found for, a person's stays`() {
        let before = scanned("Sallt", in: "/m/1")
        var known = library([before])
        known.albums[0].coverURL = "https://a.example/1"
        let after = [scanned("Salt", in: "/m/1")]
        #expect(update(after, known).edits.map(\.album.coverURL) == ["https://a.example/1"])
        known.filled[known.albums[0].id] = FilledAddress(url: "https://a.example/1", facts: before.facts)
        #expect(update(after, known).edits.map(\.album.coverURL) == [nil])
        #expect(update([before], known).edits.isEmpty)
        let picture = PictureName(.picture, before.facts, urls: ["https://a.example/1"])
        let accepted = [known.albums[0].id: Decisions([Decision(.accepted, picture, of: known.albums[0].id)])]
        let kept = update(after, known, decisions: accepted)
        #expect(kept.edits.map(\.album.coverURL) == ["https://a.example/1"], "a person has accepted it")
    }

    // MARK: Deleted, gone

    @Test func `an album whose folder has another one is gone, until it is found again`() {
        var known = library([scanned("One", in: "/m/1")])
        let reused = update([scanned("Two", in: "/m/1")], known, isGone: { _ in true })
        let former = reused.records.filter(\.isGone)
        #expect(former.map(\.id) == known.albums.map(\.id) && former.map(\.places) == known.records.map(\.places))
        known.records = former
        #expect(update([scanned("One", in: "/m/2")], known).records.map(\.isGone) == [false])
    }

    @Test func `a deleted album is not added again, not even from another folder, and is if asked`() {
        var known = library([scanned("One", in: "/m/1")])
        known.albums = []
        for folder in ["/m/1", "/m/9"] {
            let update = update([scanned("One", in: folder)], known, isGone: { _ in true })
            #expect(update.additions.isEmpty && update.deleted.count == 1 && update.removedRecords.isEmpty)
        }
        var options = LibraryUpdateOptions()
        options.restoresDeleted = true
        let restored = update([scanned("One", in: "/m/1")], known, options: options, isGone: { _ in true })
        #expect(restored.additions.count == 1 && restored.deleted.isEmpty)
    }

    @Test func `a deleted album hides no other one, whatever folder that is in`() {
        var known = library([scanned("One", release: Self.release, in: "/m/1")])
        known.albums = []
        for other in [
            scanned("Two", in: "/m/1"), scanned("One", year: "1972", in: "/m/1"),
            scanned("One", by: "Others", release: Self.release, in: "/m/1"),
        ] {
            let update = update([other], known)
            #expect(update.additions.count == 1 && update.deleted.isEmpty)
        }
    }

    @Test func `an addition that a crash kept out of the library is added again`() {
        let first = update([scanned("One", in: "/m/1")])
        #expect(first.records.map(\.isPending) == [true])
        var library = Library()
        library.records = first.records
        let again = update([scanned("One", in: "/m/1")], library)
        #expect(again.additions.count == 1 && again.deleted.isEmpty)
    }

    @Test func `only albums of looked-for folders are gone, and only a scan's own unedited ones can be pruned`() {
        var known = library([scanned("One", in: "/m/1"), scanned("Two", in: "/m/2"), scanned("Three", in: "/n/3")])
        known.albums[1].genre = "Folk"
        let isGone = { @Sendable (folder: BytePath) in folder.isInside(BytePath("/m")) }
        let update = update([], known, isGone: isGone)
        #expect(update.gone.map(\.title) == ["One", "Two"] && update.prunable == [known.albums[0].id])
        #expect(update.records.allSatisfy(\.isGone) && update.removedRecords.isEmpty)
        var options = LibraryUpdateOptions()
        options.prunes = true
        let pruning = self.update([], known, options: options, isGone: isGone)
        #expect(pruning.removedRecords == [known.albums[0].id])
        let decided = self.update([], known, decisions: [known.albums[0].id: .init()], options: options, isGone: isGone)
        #expect(decided.prunable.isEmpty && decided.removedRecords.isEmpty, "a decision keeps its album")
        #expect(pruning.records.map(\.id) == [known.albums[1].id] && pruning.records[0].places.isEmpty)
        #expect(self.update([], known, options: options, isAway: { _ in true }, isGone: isGone).gone.isEmpty)
    }
}
