import AlbumLibrary
import CoverSources
import Foundation
import Platform
import SQLite
import Testing

@testable import MusicFolder

@Suite struct MusicStateTests {
    private func contents(_ files: Int) -> FolderContents {
        var contents = FolderContents()
        contents.files = files
        contents.problems = [MusicProblem(BytePath(bytes: [0xFF, 0x2F, 0x80]), "why")]
        return contents
    }

    @Test func `a cover that a person removed is known, and one that a killed fill did not write is none`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let path = try folder.file("cover.jpg", bytes: [1])
        var row = Written(
            folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.number = try state.save(row)
        #expect(try state.removed().isEmpty)
        #expect(path.withCString { unlink($0) } == 0)
        #expect(try state.removed().map(\.path) == [path])
        row.state = .begun
        try state.save(row)
        #expect(try state.removed().isEmpty)
    }

    /// - Parameter length: Of its only song; 0 if that is not known.
    private func album(_ id: String, in folder: BytePath, length: Int = 0) -> [String: ScannedAlbum] {
        var (album, place) = (ScannedAlbum(), AlbumPlace())
        (place.folders, place.coverFolders, place.lengthsDigest) = ([folder], [folder], UInt64(length))
        (album.places, album.facts.lengths) = ([place], [length])
        return [id: album]
    }

    @Test(arguments: [true, false])
    func `what a person removed before the folder was renamed stays removed, and a new rip is none`(isRip: Bool) throws
    {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let (old, new) = (folder.path.appending(Array("Old".utf8)), folder.path.appending(Array("New".utf8)))
        try folder.file("New/1.flac", bytes: [1])
        try state.save([AlbumRecord(id: "1", try #require(album("1", in: old, length: 200_000)["1"]))])
        try state.save(Written(folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1))
        _ = try state.follow(album("1", in: new, length: isRip ? 200_013 : 200_000))
        let row = try #require(try state.written().first)
        #expect(row.folder == (isRip ? old : new) && row.state == (isRip ? .there : .removed))
    }

    @Test func `a cover follows its album's renamed folder, and a removed one stays removed there`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        try state.add(roots: [folder.path])
        let (old, new) = (folder.path.appending(Array("Old".utf8)), folder.path.appending(Array("New".utf8)))
        try folder.file("New/cover.jpg", bytes: [1])
        try state.save(Written(folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1))
        #expect(try !state.follow(album("2", in: new)).hasMoved, "the other album's")
        #expect(try state.follow(album("1", in: new)).hasMoved)
        let moved = try #require(try state.written().first)
        #expect(moved.folder == new && moved.root == folder.path)
        #expect(moved.path.withCString { unlink($0) } == 0)
        _ = try state.follow(album("1", in: new))
        #expect(try state.written().map(\.state) == [.removed])
        #expect(try !state.follow(album("1", in: old)).hasMoved)
        #expect(try state.written().map(\.folder) == [old])
    }

    @Test(arguments: [true, false])
    func `what a person removed beside one copy stays there when a scan has seen another one`(isThere: Bool) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let (one, other) = (folder.path.appending(Array("One".utf8)), folder.path.appending(Array("Other".utf8)))
        if isThere { try folder.file("One/1.flac", bytes: [1]) }
        var both = try #require(album("1", in: one, length: 200_000)["1"])
        both.places[0].namesDigest = UInt64(Song.hash(of: Array("1.flac".utf8)))
        let scanned = album("1", in: other, length: 200_000)
        both.places += try #require(scanned["1"]?.places)
        try state.save([AlbumRecord(id: "1", both)])
        var row = Written(folder: one, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.state = .removed
        try state.save(row)
        _ = try state.follow(scanned)
        #expect(try state.written().map(\.folder) == [isThere ? one : other])
    }

    @Test func `what was removed beside a copy that moved stays removed, though another copy comes first now`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let (old, new, other) = (folder.path.appending([1]), folder.path.appending([3]), folder.path.appending([2]))
        // The lengths of the album are those of the first copy.
        var (before, now) = (album("1", in: old, length: 200_012), album("1", in: other, length: 200_000))
        before["1"]?.places.append(try #require(now["1"]?.places.first))
        now["1"]?.places.append(try #require(album("1", in: new, length: 200_012)["1"]?.places.first))
        try state.save([AlbumRecord(id: "1", try #require(before["1"]))])
        var row = Written(folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.state = .removed
        try state.save(row)
        _ = try state.follow(now)
        #expect(try state.written().map(\.folder) == [new])
    }

    @Test(arguments: [[1], [2]])
    func `a cover that a person has replaced was removed, one with the same bytes was not`(_ bytes: [UInt8]) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        try folder.file("cover.jpg", bytes: bytes)
        try state.save(
            Written(folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1))
        let contents = [folder.path: FolderContents()]
        _ = try state.follow(album("1", in: folder.path), in: contents)
        #expect(try state.written().map(\.state) == [bytes == [1] ? .there : .removed])
    }

    @Test func `a removed cover that a person puts back is Sleeve's again`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        var row = Written(
            folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.state = .removed
        try state.save(row)
        _ = try state.follow(album("1", in: folder.path))
        #expect(try state.written().map(\.state) == [.removed])
        try folder.file("cover.jpg", bytes: [1])
        _ = try state.follow(album("1", in: folder.path))
        #expect(try state.written().map(\.state) == [.there])
        // A fill has written it again.
        let first = try #require(try state.written().first)
        try state.set(first, .removed)
        (row.state, row.run) = (.there, 2)
        try state.save(row)
        _ = try state.follow(album("1", in: folder.path))
        #expect(try state.written(number: first.number)?.state == .removed)
    }

    @Test func `covers follow albums whose folders have each other's names by now`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let places = ["One", "Two"].map { folder.path.appending(Array($0.utf8)) }
        for (index, place) in places.enumerated() {
            try folder.file("\(["One", "Two"][1 - index])/cover.jpg", bytes: [UInt8(index)])
            var row = Written(
                folder: place, name: Array("cover.jpg".utf8), digest: Digest(of: [UInt8(index)]), album: "\(index)",
                run: 1)
            row.length = 1
            try state.save(row)
        }
        let albums = album("0", in: places[1]).merging(album("1", in: places[0])) { one, _ in one }
        #expect(try state.follow(albums).hasMoved)
        let rows = try state.written().sorted { $0.album < $1.album }
        #expect(rows.map(\.folder) == [places[1], places[0]] && rows.allSatisfy { $0.state == .there })
    }

    @Test func `that all covers were removed counts for those, too, that were allowed before`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        var row = Written(
            folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.state = .allowed
        row.number = try state.save(row)
        _ = try state.follow(album("1", in: folder.path))
        #expect(try state.written(number: row.number)?.state == .allowed)
        _ = try state.follow(album("1", in: folder.path), countsAllRemoved: true)
        #expect(try state.written(number: row.number)?.state == .removed)
    }

    @Test(arguments: [(200_000, Written.State.removed), (200_013, .allowed)])
    func `a cover that is gone was removed if its songs are there`(length: Int, expected: Written.State) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        try state.save([AlbumRecord(id: "1", try #require(album("1", in: folder.path, length: 200_000)["1"]))])
        let number = try state.save(
            Written(folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1))
        _ = try state.follow(album("1", in: folder.path, length: length))
        #expect(try state.written(number: number)?.state == expected)
    }

    @Test(
        arguments: [
            (nil, Written.State.removed), (Digest(of: [2]), .removed), (Digest(of: [1]), .there),
        ] as [(Digest?, Written.State)])
    func `a scan notes that a person has taken a picture out of a song, or replaced it`(
        now: Digest?, expected: Written.State
    ) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let names = ["1.flac", "2.flac"]
        for name in names {
            try folder.file(name, bytes: [1])
            var row = Written(
                folder: folder.path, name: Array(name.utf8), digest: Digest(of: [1]), album: "1", run: 1)
            (row.kind, row.song) = (.tags, .init(audio: Digest(of: [3]), growth: 1, file: Digest(of: [4])))
            try state.save(row)
        }
        var contents = FolderContents()
        var tags = AudioTags()
        tags.picture = now.map { EmbeddedPicture(type: 3, byteCount: 1, digest: $0) }
        contents.tags = [SongTags(tags)]
        // The other song could not be read.
        contents.songs.songs = [Song(tags, name: Array(names[0].utf8), number: 0)]
        _ = try state.follow(album("1", in: folder.path), in: [folder.path: contents])
        #expect(try state.written(.tags).map(\.state) == [expected, .there])
    }

    /// The process was killed before, or after, it changed the song. A person has edited the song's tags since.
    @Test(
        arguments: [
            (.leaving, Digest(of: [2]), [.there, .there]), (.leaving, nil, [.undone, .undone]),
            (.leaving, Digest(of: [1]), [.undone, .there]), (.begun, Digest(of: [2]), [.there, .there]),
            (.begun, nil, [nil, .removed]),
        ] as [(Written.State, Digest?, [Written.State?])])
    func `what was killed in a song with other tags by now is known by its picture`(
        state killed: Written.State, picture: Digest?, expected: [Written.State?]
    ) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        try folder.file("1.flac", bytes: [9])
        var row = Written(folder: folder.path, name: Array("1.flac".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        (row.kind, row.song) = (.tags, .init(audio: Digest(of: [3]), growth: 1, file: Digest(of: [4])))
        row.number = try state.save(row)
        let former = row.number
        (row.number, row.digest, row.run, row.state, row.replaced) = (0, Digest(of: [2]), 2, killed, former)
        row.number = try state.save(row)
        try state.settleBegun()
        #expect(try state.begun().map(\.number) == [row.number], "the bytes tell nothing")
        var tags = AudioTags()
        tags.picture = picture.map { EmbeddedPicture(type: 3, byteCount: 1, digest: $0) }
        var contents = FolderContents()
        contents.tags = [SongTags(tags)]
        contents.songs.songs = [Song(tags, name: row.name, number: 0)]
        _ = try state.follow(album("1", in: folder.path), in: [folder.path: contents])
        #expect(try [row.number, former].map { try state.written(number: $0)?.state } == expected)
        #expect(try state.begun().isEmpty)
    }

    @Test func `what an undo took back is known where its folder is by now, for another rip not`() throws {
        for (length, isMoved) in [(200_000, true), (200_013, false)] {
            let folder = try Folder()
            let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
            let (old, new) = (folder.path.appending(Array("Old".utf8)), folder.path.appending(Array("New".utf8)))
            try folder.file("New/1.flac", bytes: [1])
            try state.save([AlbumRecord(id: "1", try #require(album("1", in: old, length: 200_000)["1"]))])
            var row = Written(
                folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
            row.state = .undone
            try state.save(row)
            _ = try state.follow(album("1", in: new, length: length))
            #expect(try state.undone().map(\.folder) == [isMoved ? new : old])
        }
    }

    @Test(arguments: [1_000, 3_000])
    func `a removal is as old as the last change of its folder, if that was since the writing`(written: Int64) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let music = folder.path.appending(Array("One".utf8))
        try folder.file("One/1.flac", bytes: [1])
        var row = Written(folder: music, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.time = written
        try state.save(row)
        var times = [timeval(tv_sec: 2, tv_usec: 0), timeval(tv_sec: 2, tv_usec: 0)]
        #expect(music.withCString { utimes($0, &times) } == 0)
        _ = try state.follow(album("1", in: music))
        let removed = try #require(try state.written().first)
        #expect(removed.state == .removed && (removed.time == 2_000) == (written < 2_000))
    }

    @Test(arguments: [1, 2, 3] as [UInt8])
    func `of an undo that was killed the bytes tell whether the former cover is back`(now: UInt8) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        var rows: [Written] = []
        for byte in [1, 2] as [UInt8] {
            var row = Written(
                folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [byte]), album: "1",
                run: Int64(byte))
            row.replaced = rows.last?.number
            row.number = try state.save(row)
            rows.append(row)
        }
        try state.set(rows[1], .leaving)
        if now < 3 { try folder.file("cover.jpg", bytes: [now]) }
        try state.settleBegun()
        #expect(try state.written().map(\.digest) == (now < 3 ? [Digest(of: [now])] : []))
        #expect(try state.history(of: folder.path).first?.state == (now == 2 ? .there : .undone))
        #expect(try state.begun().isEmpty)
    }

    @Test func `a picture that was to come back into a song stays known if the undo was killed before`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        var former = Written(
            folder: folder.path, name: Array("1.mp3".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        (former.kind, former.song) = (.tags, .init(audio: Digest(of: [3]), growth: 1, file: Digest(of: [4])))
        former.number = try state.save(former)
        var newer = former
        (newer.number, newer.digest, newer.run, newer.replaced) = (0, Digest(of: [2]), 2, former.number)
        newer.song?.file = Digest(of: [5])
        newer.number = try state.save(newer)
        try folder.file("1.mp3", bytes: [5])
        try state.set(former, .begun)
        try state.set(newer, .leaving)
        try state.settleBegun()
        #expect(try state.history(of: folder.path).map(\.state) == [.there, .there])
        #expect(try state.written(.tags).map(\.number) == [newer.number])
    }

    @Test(arguments: [true, false])
    func `a cover follows its folder that has another album and another path`(isMoved: Bool) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let paths = ["Old", "New", "Copy"].map { folder.path.appending(Array($0.utf8)) }
        if !isMoved { try folder.file("Old/1.mp3", bytes: [1]) }
        let file = try folder.file("New/cover.jpg", bytes: [1])
        var row = Written(folder: paths[0], name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.length = 1
        try state.save(row)
        var albums = album("1", in: paths[2]).merging(album("2", in: paths[1])) { one, _ in one }
        albums["2"]?.places[0].covers = [CoverFile(path: file)]
        #expect(try state.follow(albums).hasMoved == isMoved, "a person's copy is no cover of a fill")
        #expect(try state.written().map(\.folder) == [isMoved ? paths[1] : paths[0]])
    }

    @Test func `a cover of an album that became a part of another one is known by its bytes`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let (old, new) = (folder.path.appending(Array("Old".utf8)), folder.path.appending(Array("New".utf8)))
        var row = Written(folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.length = 1
        try state.save(row)
        var joined = try #require(album("2", in: new)["2"])
        joined.places[0].covers = [CoverFile(path: try folder.file("New/cover.jpg", bytes: [2]))]
        #expect(try !state.follow(["2": joined]).hasMoved, "other bytes")
        try folder.file("New/cover.jpg", bytes: [1])
        #expect(try state.follow(["2": joined]).hasMoved)
        #expect(try state.written().map(\.folder) == [new])
    }

    @Test func `what a killed fill wrote is known where its folder is by now`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let (old, new) = (folder.path.appending(Array("Old".utf8)), folder.path.appending(Array("New".utf8)))
        try folder.file("New/cover.jpg", bytes: [1])
        var row = Written(folder: old, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        row.state = .begun
        try state.save(row)
        try state.settleBegun()
        _ = try state.follow(album("1", in: new))
        #expect(try state.written().map(\.path) == [new.appending(Array("cover.jpg".utf8))])
        #expect(try state.begun().isEmpty)
    }

    @Test func `an album whose folder another one has by now is not there`() throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        let state = try MusicState(of: library) { Issue.record("\($0)") }
        var records = ["1", "2"].map { AlbumRecord(id: $0) }
        for index in records.indices { records[index].places = try #require(album("", in: folder.path)[""]?.places) }
        records[0].isGone = true
        try state.save(records)
        #expect(try Set(MusicState.existing(of: library)?.albums(at: folder.path) ?? []) == ["2"])
        #expect(try state.albums() == records)
    }

    @Test func `if most covers of a folder are gone at once none counts as removed until a person says so`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        try state.add(roots: [folder.path])
        for number in 1...12 {
            var row = Written(
                folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "\(number)", run: 1)
            row.root = folder.path
            try state.save(row)
        }
        let places = (1...12).reduce(into: [:]) { $0.merge(album("\($1)", in: folder.path)) { one, _ in one } }
        #expect(try state.follow(places.filter { $0.key != "12" }).vanished.count == 11)
        #expect(try state.written().allSatisfy { $0.state == .there })
        #expect(try state.follow(places.filter { $0.key == "1" }).vanished.count == 1, "a scan of one of them")
        #expect(try state.follow(places.filter { $0.key != "12" }, countsAllRemoved: true).vanished.isEmpty)
        #expect(try state.written().count { $0.state == .removed } == 11)
    }

    @Test func `folders and albums are there for the next process, names that are no UTF-8 too`() throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        let odd = BytePath(bytes: Array("/m/".utf8) + [0xFF])
        var record = AlbumRecord(id: "1")
        record.isAdded = true
        record.facts = AlbumQuery(artist: "A", title: "One", year: 1971, trackCounts: [5, 12], lengths: [1_000, 0])
        record.genre = "Folk"
        var place = AlbumPlace()
        place.folders = [odd, BytePath("/m/=41")]
        record.places = [place]
        do {
            let state = try MusicState(of: library) { Issue.record("\($0)") }
            try state.save([
                (odd, .init(fingerprint: 7, contents: contents(3))),
                (BytePath("/n"), .init(fingerprint: 8, contents: contents(1))),
            ])
            try state.save([record])
        }
        let state = try MusicState(of: library) { Issue.record("\($0)") }
        let found = try state.folders(in: [BytePath("/m")])
        #expect(found.count == 1 && found[odd]?.fingerprint == 7 && found[odd]?.contents == contents(3))
        #expect(try state.albums() == [record])
        try state.removeFolders([odd])
        try state.save([], removing: ["1"])
        #expect(try state.folders(in: [BytePath("/m")]).isEmpty && state.albums().isEmpty)
    }

    @Test func `the address that an earlier fill gave is a fill's until the library has the next one`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        func isAddress(_ number: Int) throws -> Bool? {
            try state.filledAddresses()["1"]?.isAddress(of: Album(title: "A", coverURL: "https://a.example/\(number)"))
        }
        var rows: [Written] = []
        func write(_ number: Int) throws {
            var row = Written(
                folder: folder.path, name: Array("cover.jpg".utf8), digest: Digest(of: [UInt8(number)]), album: "1",
                run: Int64(number), url: "https://a.example/\(number)")
            (row.facts, row.replaced) = (AlbumQuery(artist: "A", title: "\(number)"), rows.last?.number)
            row.number = try state.save(row)
            rows.append(row)
        }
        #expect(try isAddress(1) == nil)
        try write(1)
        #expect(try isAddress(1) == true && isAddress(2) == false)
        try state.noteAddresses()
        try write(2)
        #expect(try isAddress(1) == true && isAddress(2) == true)
        #expect(try state.filledAddresses()["1"]?.facts.title == "2")
        try state.noteAddresses()
        #expect(try isAddress(1) == false && isAddress(2) == true)
        // An undo that is killed now leaves it in the library.
        rows[1].isNoted = true
        try state.set(rows[1], .undone)
        #expect(try isAddress(2) == true)
        try state.noteAddresses()
        #expect(try isAddress(2) == true)
        try state.noteAddresses(lost: true)
        #expect(try isAddress(2) == false && isAddress(1) == true)
    }

    @Test func `what a fill has said is no news, and stays so while fills are interrupted`() throws {
        let folder = try Folder()
        let (state, music) = (try MusicState(of: folder.text + "/albums.json") { _ in }, [BytePath("/m")])
        #expect(try state.tell(["a", "b"], of: music, isAll: true) == ["a", "b"])
        #expect(try state.tell(["b", "c"], of: music, isAll: false) == ["c"])
        #expect(try state.news(["a", "b", "c"], of: music).isEmpty && state.news(["a"], of: [BytePath("/n")]) == ["a"])
        #expect(try state.tell(["c", "d"], of: music, isAll: true) == ["d"])
        #expect(try state.news(["a", "c"], of: music) == ["a"])
    }

    @Test func `a folder is away if its root is missing or empty, or a disk that was mounted in it is not`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/state/albums.json") { Issue.record("\($0)") }
        try folder.file("music/One/1.mp3", bytes: [1])
        let (music, gone) = (folder.path.appending(Array("music".utf8)), folder.path.appending(Array("gone".utf8)))
        try state.add(roots: [music, gone])
        let disk = music.appending(Array("disk".utf8))
        try state.database.statement("INSERT INTO mounts VALUES (?)").run(.blob(disk.bytes))
        #expect(try !state.isAway(music.appending(Array("Two".utf8))))
        #expect(try state.isAway(gone.appending(Array("Two".utf8))))
        #expect(try state.isAway(disk.appending(Array("Two".utf8))))
        #expect(!MountPoints.all().isEmpty && MountPoints.all().allSatisfy { $0.bytes.first == UInt8(ascii: "/") })
    }

    @Test func `a folder with files that may be readable later is read again`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { _ in }
        var contents = contents(1)
        contents.isTransient = true
        try state.save([(BytePath("/m"), .init(fingerprint: 7, contents: contents))])
        #expect(try state.folders(in: [BytePath("/m")])[BytePath("/m")]?.fingerprint == 0)
    }

    @Test func `folders of a former version are read again, albums stay known`() throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        do {
            let state = try MusicState(of: library) { _ in }
            try state.save([(BytePath("/m"), .init(fingerprint: 7, contents: contents(1)))])
            try state.save([AlbumRecord(id: "1")])
            try state.database.execute("PRAGMA user_version = 0")
        }
        let state = try MusicState(of: library) { _ in }
        #expect(try state.folders(in: [BytePath("/m")]).isEmpty && state.albums().map(\.id) == ["1"])
    }

    @Test func `scanned folders that do not exist are forgotten when that is wanted`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { _ in }
        let gone = BytePath(folder.text + "/gone")
        try state.add(roots: [BytePath(folder.text), BytePath("/no/such/folder"), gone])
        try state.removeMissingRoots()
        #expect(try state.roots() == [BytePath(folder.text)])
    }

    @Test(arguments: [99, 6]) func `a damaged state, and one of a former version, is moved aside, a newer one refused`(
        version: Int
    ) throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        try folder.file(
            "albums.json.state/music.sqlite3",
            bytes: Array("no database, but longer than its header".utf8) + [UInt8](repeating: 7, count: 200))
        #expect(throws: MusicState.Problem.self, "a command that reads moves nothing") {
            try MusicState.existing(of: library)
        }
        var notices: [String] = []
        do {
            let state = try MusicState(of: library) { notices.append($0) }
            #expect(notices.count == 1 && notices[0].contains("damaged"))
            #expect(try state.albums().isEmpty)
            try state.database.execute("PRAGMA user_version = \(version)")
        }
        if version == 99 {
            #expect(throws: MusicState.Problem.self) { try MusicState(of: library) { _ in } }
        } else {
            #expect(throws: MusicState.Problem.self) { try MusicState.existing(of: library) }
            notices = []
            _ = try MusicState(of: library) { notices.append($0) }
            #expect(notices.count == 1 && notices[0].contains("former-music"))
        }
    }
}
