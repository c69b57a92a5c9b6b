import CoverSources
import Foundation
import Platform
import Testing

@testable import MusicFolder

@Suite struct AlbumGrouperTests {
    private func albums(
        _ folders: [String: [AudioTags]], pictures: [String] = [], roots: [String] = ["/m"]
    ) -> [ScannedAlbum] {
        Layout("", folders, pictures: pictures, roots: roots).found
    }

    // MARK: Covers

    @Test func `a disc's cover is in its folder, else in the one that contains nothing but the discs`() {
        let discs = ["/m/x/CD1": tracks(1...5), "/m/x/CD2": tracks(1...5, songs: "y")]
        let above = albums(discs, pictures: ["/m/x/cover.jpg"])[0].places[0]
        #expect(above.cover?.path == BytePath("/m/x/cover.jpg") && above.coverFolders == [BytePath("/m/x")])
        #expect(albums(discs, pictures: ["/m/x/CD1/cover.jpg"])[0].places[0].cover == nil)
        let each = albums(discs, pictures: ["/m/x/cover.jpg", "/m/x/CD1/cover.jpg", "/m/x/CD2/cover.jpg"])[0].places[0]
        #expect(each.cover?.path == BytePath("/m/x/CD1/cover.jpg"))
    }

    @Test func `a picture that is named as the album is its cover, above its discs and beside one of them`() {
        let discs = ["/m/x/CD1": tracks(1...5, "Low: Tide (CD1)"), "/m/x/CD2": tracks(1...5, "Low: Tide (CD2)")]
        for picture in ["/m/x/low_ tide.png", "/m/x/Low: Tide (CD2).jpg"] {
            #expect(albums(discs, pictures: [picture])[0].places[0].cover?.path == BytePath(picture))
        }
        let one = albums(["/m/y": tracks(1...5, "Low Tide (CD1)")], pictures: ["/m/y/Low Tide.jpg"])
        #expect(one[0].hasCover)
    }

    @Test func `of a folder of scans some are kept, and each that may be a cover`() throws {
        let scans = (1...60).map { "/m/x/Scans/\($0).jpg" } + ["/m/x/Scans/cover.jpg"]
        let kept = try #require(Layout("", [:], pictures: scans).contents[BytePath("/m/x/Scans")]).pictures
        #expect(kept.count == 51 && kept.last?.path == BytePath("/m/x/Scans/cover.jpg"))
    }

    @Test func `a cover of a fill gives way to a person's, and its picture in tags is no evidence`() {
        var layout = Layout(
            "", ["/m/a": tracks(1...3, picture: "x")], pictures: ["/m/a/cover.jpg", "/m/a/folder.jpg"])
        #expect(layout.found[0].places[0].cover?.path == BytePath("/m/a/cover.jpg"))
        #expect(!layout.found[0].places[0].embeddedDiffers)
        layout.sleeves.isFile = { $0 == BytePath("/m/a/cover.jpg") }
        layout.sleeves.inTags = [Digest(of: "y".utf8)]
        #expect(layout.found[0].places[0].cover?.path == BytePath("/m/a/folder.jpg"))
        #expect(!layout.found[0].places[0].embeddedDiffers, "the songs have another picture")
        layout.sleeves.inTags = [Digest(of: "x".utf8)]
        #expect(layout.found[0].places[0].embeddedDiffers)
    }

    @Test func `discs of two albums below one folder have their covers in their own folders`() {
        let found = albums(
            ["/m/x/CD1": tracks(1...5, "Low"), "/m/x/CD2": tracks(1...5, "High")], pictures: ["/m/x/cover.jpg"])
        #expect(found.allSatisfy { !$0.hasCover }, "the picture above them is that of neither")
    }

    @Test func `the picture of an artist's folder is no album's`() {
        let one = ["/m/A/Low Tide": tracks(1...5)]
        #expect(albums(one, pictures: ["/m/A/folder.jpg"])[0].places[0].cover == nil)
        let loose = albums(["/m/A": tracks(1...1)].merging(one) { $1 }, pictures: ["/m/A/folder.jpg"])
        #expect(loose.allSatisfy { !$0.hasCover })
    }

    @Test func `the title's own picture is the cover, but none is in a folder of several albums`() {
        #expect(albums(["/m/a": tracks(1...5, "One")], pictures: ["/m/a/One.jpg"])[0].hasCover)
        let shared = albums(
            ["/m/a": tracks(1...5, "One") + tracks(1...5, "Two")], pictures: ["/m/a/One.jpg", "/m/a/cover.jpg"])
        #expect(shared.allSatisfy { !$0.hasCover })
    }

    @Test func `the cover of a folder is that of the album with three quarters of its songs`() {
        let found = albums(
            ["/m/a": tracks(1...6, "One") + tracks(1...2, "Two")], pictures: ["/m/a/cover.jpg"])
        #expect(found.map(\.hasCover) == [true, false])
    }

    @Test func `songs without an album are no other album`() {
        let songs = tracks(1...4, "One") + tracks(5...6, "")
        #expect(albums(["/m/a": songs], pictures: ["/m/a/cover.jpg"]).map(\.hasCover) == [true])
    }

    @Test func `embedded covers that differ between tracks are said`() {
        let same = tracks(1...2, picture: "x") + tracks(3...3)
        #expect(albums(["/m/a": same])[0].places[0].embeddedDiffers == false)
        let place = albums(["/m/a": tracks(1...1, picture: "x") + tracks(2...2, picture: "y")])[0].places[0]
        #expect(place.embeddedDiffers && place.embedded?.digest == Digest(of: "x".utf8) && place.embeddedTracks == 2)
    }

    // MARK: Facts

    @Test func `the facts of an album are those of all of its songs, in the order of discs and tracks`() {
        let (first, second) = (tracks(1...3, disc: 1, total: 3), tracks(1...2, disc: 2, total: 2))
        let facts = albums([
            "/m/x/CD2": second.reversed(), "/m/x/CD1": first.reversed(),
            "/m/y": (first + second).map { song in
                var song = song
                song.length = song.length.map { $0 + 2_000 }
                return song
            },
        ])[0].facts
        #expect(facts.lengths == (first + second).compactMap(\.length))
        #expect(facts.trackCounts == [5])
    }

    @Test func `discs that are not all there have no number of tracks`() {
        #expect(albums(["/m/a": tracks(1...9, "Low Tide (Disc 2)", total: 9)])[0].facts.trackCounts == [])
        #expect(albums(["/m/a": tracks(1...9, disc: 1, of: 2, total: 9)])[0].facts.trackCounts == [])
        #expect(albums(["/m/a": tracks(1...9, disc: 1, of: 1, total: 9)])[0].facts.trackCounts == [9])
    }

    @Test func `lengths that are all equal, or missing, are unknown`() {
        var songs = tracks(1...5)
        for index in songs.indices { songs[index].length = 627 }
        #expect(albums(["/m/a": songs])[0].facts.lengths == [])
        #expect(albums(["/m/a": tracks(1...5, isTimed: false)])[0].facts.lengths == [])
        songs[3].length = nil
        songs[4].length = 999
        #expect(albums(["/m/a": songs])[0].facts.lengths == [627, 627, 627, 0, 999])
    }

    @Test(arguments: [
        ["Side A", "Side B"], ["1", "2"], ["LP2", "LP10"], ["Part Two", "Part Three"], ["1of2", "2of2"],
    ])
    func `folders of one name beside each other know the lengths of all of them, in the order of their names`(
        _ names: [String]
    ) {
        let (first, second) = (tracks(1...5, songs: "x"), tracks(1...4, songs: "y"))
        let found = albums(["/m/a/\(names[1])": second, "/m/a/\(names[0])": first])
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.facts.setLengths == (first + second).compactMap(\.length) })
    }

    @Test func `songs above a folder of their name are of the set, too`() {
        let (first, second) = (tracks(1...5, songs: "x"), tracks(1...4, songs: "y"))
        let found = albums(["/m/a/Bonus": second, "/m/a": first])
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.facts.setLengths == (first + second).compactMap(\.length) })
    }

    @Test func `other names, years and folders are no set`() {
        let first = tracks(1...5, year: "1994", songs: "x")
        for (folder, second) in [
            ("/m/a/2", tracks(1...4, "High", year: "1994", songs: "y")),
            ("/m/a/2", tracks(1...4, year: "1995", songs: "y")),
            ("/m/a/2", tracks(1...4, by: "B", year: "1994", songs: "y")),
            ("/m/b/2", tracks(1...4, year: "1994", songs: "y")),
            ("/m/a/2", tracks(1...4, year: "1994", songs: "y", isTimed: false)),
        ] {
            #expect(albums(["/m/a/1": first, folder: second]).allSatisfy { $0.facts.setLengths == nil })
        }
    }

    @Test func `an id is one of the facts unless several releases, or several albums, have it`() {
        let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
        let other = "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"
        #expect(albums(["/m/a": tracks(1...5, id: id) + tracks(6...7)])[0].facts.releaseID == id)
        #expect(albums(["/m/a": tracks(1...5, id: id) + tracks(6...7, id: other)])[0].facts.releaseID == nil)
        let box = albums(["/m/a": tracks(1...5, "Low", id: id), "/m/b": tracks(1...5, "High", id: id)])
        #expect(box.map(\.facts.releaseID) == [nil, nil])
    }

    @Test func `the artist that all songs share is another name of the album's`() {
        let facts = albums(["/m/a": tracks(1...5, by: "Soloist", albumArtist: "Orchestra")])[0].facts
        #expect(facts.artist == "Orchestra" && facts.otherArtists == ["Soloist"])
    }

    @Test func `places have one digest if their files have the same names`() {
        let found = albums(["/m/FLAC": tracks(1...5), "/m/MP3": tracks(1...5), "/m/c": tracks(1...6, "High")])
        let digests = found.flatMap(\.places).map(\.namesDigest)
        #expect(digests.count == 3 && digests[0] == digests[1] && digests[1] != digests[2])
    }

    // MARK: Contents

    @Test func `files without an album are counted, not guessed`() {
        let layout = Layout("", ["/m/Low Tide": tracks(1...2, "") + tracks(1...3, "Unknown Album") + tracks(1...4)])
        #expect(layout.contents[BytePath("/m/Low Tide")]?.untagged == 5)
        for name in ["Unbekanntes Album", "Álbum desconocido", "Неизвестный альбом", "未知的专辑", "[알 수 없는 앨범]"] {
            let layout = Layout("", ["/m/Low Tide": tracks(1...2, name)])
            #expect(layout.contents[BytePath("/m/Low Tide")]?.untagged == 2, "\(name)")
        }
    }

    @Test func `what a folder keeps survives the state`() throws {
        let songs =
            tracks(1...3, disc: 2, of: 3, total: 12, id: "1", picture: "x") + tracks(1...2, side: 2, isTimed: false)
            + tracks(1...1, "", isNumbered: false)
        let contents = try #require(
            Layout("", ["/m/a": songs], pictures: ["/m/a/cover.jpg"]).contents[BytePath("/m/a")])
        let data = try JSONEncoder().encode(contents)
        #expect(try JSONDecoder().decode(FolderContents.self, from: data) == contents)
    }
}
