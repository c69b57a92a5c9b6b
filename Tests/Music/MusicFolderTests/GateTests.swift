import CoverSources
import Foundation
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

/// What speaks against a picture, by what a person has said and by what it is.
@Suite struct GateTests {
    private let query = AlbumQuery(artist: "A", title: "Low Tide")

    private func state(_ folder: Folder, _ decisions: (Decision.Verdict, String)...) throws -> MusicState {
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        for (verdict, url) in decisions { try state.add([Decision(verdict, name(url), of: "1")]) }
        return state
    }

    private func name(_ url: String) -> PictureName { PictureName(.itunes, query, urls: ["https://a.example/\(url)"]) }

    private func picture(_ folder: Folder, _ url: String, _ bytes: [UInt8]? = nil) throws -> FillPicture {
        let bytes = bytes ?? MusicPicture.jpeg(300, 300, number: url.utf8.count).bytes
        let path = try folder.file("pictures/\(url)", bytes: bytes)
        return FillPicture(path: path, digest: Digest(of: bytes), name: name(url))
    }

    private func row(_ folder: Folder, _ picture: FillPicture, run: Int64 = 1) -> Written {
        Written(folder: folder.path, name: Array("cover.jpg".utf8), digest: picture.digest, album: "1", run: run)
    }

    @Test func `a person's word decides, for that album alone`() throws {
        let folder = try Folder()
        let state = try state(folder, (.accepted, "yes"), (.refused, "nono"))
        let (yes, no, other) = (
            try picture(folder, "yes"), try picture(folder, "nono"), try picture(folder, "other")
        )
        #expect(try state.mayWrite(yes, for: "1", .init()) == nil)
        #expect(try state.mayWrite(no, for: "1", .init()) == .refused)
        #expect(try state.mayWrite(other, for: "1", .init()) == .other)
        for picture in [yes, no, other] { #expect(try state.mayWrite(picture, for: "2", .init()) == nil) }
        var file = no
        file.giver = .file
        #expect(try state.mayWrite(file, for: "1", .init()) == nil, "a person's file")
    }

    @Test
    func `what a person accepted may be small and of one colour, and must be whole and of a type that players show`()
        throws
    {
        let folder = try Folder()
        let state = try state(folder, (.accepted, "yes"))
        var options = FillOptions()
        options.minimumPixels = 500
        var accepted = try picture(folder, "yes")
        accepted.hasOneColour = true
        #expect(try state.mayWrite(accepted, for: "1", options) == nil)
        let reason = "has one colour only, as placeholders have"
        #expect(try state.mayWrite(accepted, for: "2", .init()) == .placeholder(reason))
        accepted.hasOneColour = false
        #expect(try state.mayWrite(accepted, for: "2", options) == .tooSmall(side: 500))
        let cut = try picture(folder, "yes", Array(MusicPicture.jpeg(300, 300).bytes.dropLast(2)))
        #expect(try state.mayWrite(cut, for: "1", .init()) == .damaged("is cut off"))
        let bitmap = Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40] + [UInt8](repeating: 0, count: 60)
        #expect(try state.mayWrite(try picture(folder, "yes", bitmap), for: "1", .init()) != nil)
    }

    @Test func `a renamed song is known by its audio, and of two with the same audio each by its name`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let cover = try picture(folder, "one")
        func song(_ name: String) throws -> Written {
            var song = row(folder, cover)
            (song.kind, song.name) = (.tags, Array(name.utf8))
            song.song = .init(audio: Digest(of: [1]), growth: 0, file: Digest(of: Array(name.utf8)))
            return song
        }
        let former = try state.set(try state.begin(song("old.mp3"), cover, .init()), .removed)
        try folder.file("new.mp3", bytes: [1])
        #expect(throws: Objection.removed(former.path)) { try state.begin(song("new.mp3"), cover, .init()) }
        try folder.file("old.mp3", bytes: [1])
        #expect(try state.begin(song("new.mp3"), cover, .init()).state == .begun, "it is another song")
    }

    @Test func `a picture of a song that another fill's has replaced was removed by nobody`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let (former, other) = (try picture(folder, "one"), try picture(folder, "three"))
        func song(_ picture: FillPicture, replacing row: Written? = nil) throws -> Written {
            var song = self.row(folder, picture)
            (song.kind, song.name, song.replaced) = (.tags, Array("a.mp3".utf8), row?.number)
            song.song = .init(audio: Digest(of: [1]), growth: 0, file: picture.digest)
            return song
        }
        let first = try state.set(try state.begin(song(former), former, .init()), .there)
        let second = try state.set(try state.begin(song(other, replacing: first), other, .init()), .there)
        #expect(try state.begin(song(former, replacing: second), former, .init()).state == .begun)
        // A person has taken it out: the first one is not in its place either.
        try state.set(second, .removed)
        #expect(throws: Objection.removed(first.path)) { try state.begin(song(former), former, .init()) }
        try state.noteRemoved(song(other))
        #expect(try state.removed().map(\.number) == [second.number])
        // Allowed once, any is written by the next fill.
        try state.set(second, .allowed)
        #expect(try state.removed().isEmpty)
        #expect(try state.begin(song(former), former, .init()).state == .begun)
    }

    @Test func `a removed cover that had replaced another one is allowed once`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let (former, other) = (try picture(folder, "one"), try picture(folder, "three"))
        let first = try state.set(try state.begin(row(folder, former), former, .init()), .there)
        var second = row(folder, other)
        second.replaced = first.number
        second = try state.set(try state.begin(second, other, .init()), .removed)
        #expect(try state.removed().map(\.number) == [second.number])
        try state.set(second, .allowed)
        #expect(try state.removed().isEmpty)
        for picture in [former, other] {
            let begun = try state.begin(row(folder, picture), picture, .init())
            #expect(begun.state == .begun)
            try state.forget(begun)
        }
    }

    @Test func `what a person took out of a song goes into it again once it is accepted, and not once another one is`()
        throws
    {
        let folder = try Folder()
        let state = try state(folder)
        let (cover, other) = (try picture(folder, "one"), try picture(folder, "three"))
        var song = row(folder, cover)
        (song.kind, song.name, song.modified) = (.tags, Array("a.mp3".utf8), 7)
        song.song = .init(audio: Digest(of: [1]), growth: 0, file: Digest(of: [2]))
        let removed = try state.set(try state.begin(song, cover, .init()), .removed)
        #expect(try state.isRemoved(song, 7) && !state.isRemoved(song, 8))
        try state.add([Decision(.accepted, other.name, of: "1", time: removed.time + 1)])
        #expect(try state.isRemoved(song, 7))
        var file = cover
        file.giver = .file
        #expect(throws: Objection.removed(removed.path)) { try state.begin(song, file, .init()) }
        try state.add([Decision(.accepted, cover.name, of: "1", time: removed.time + 2)])
        #expect(try !state.isRemoved(song, 7))
        #expect(try state.begin(song, file, .init()).state == .begun)
    }

    @Test func `a removed cover is not written there again, until it is accepted later or allowed`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let (cover, other) = (try picture(folder, "one"), try picture(folder, "three"))
        let written = try state.set(try state.begin(row(folder, cover), cover, .init()), .there)
        let removed = try state.set(written, .removed)
        #expect(throws: Objection.removed(written.path)) { try state.begin(row(folder, cover), cover, .init()) }
        let another = try state.begin(row(folder, other), other, .init())
        #expect(another.state == .begun, "another picture")
        var elsewhere = row(folder, cover)
        elsewhere.folder = BytePath(folder.text + "/copy")
        let copy = try state.begin(elsewhere, cover, .init())
        #expect(copy.state == .begun, "another copy")
        var larger = try picture(folder, "one", MusicPicture.jpeg(900, 900, number: 8).bytes)
        larger.name.digest = larger.digest.description
        #expect(throws: Objection.removed(written.path)) { try state.begin(row(folder, larger), larger, .init()) }
        try state.add([Decision(.accepted, cover.name, of: "1", time: removed.time + 1)])
        #expect(try state.begin(row(folder, cover), cover, .init()).state == .begun)
    }

    @Test func `a removal is in force though an undo has taken the same cover back since`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let cover = try picture(folder, "one")
        let first = try state.set(try state.begin(row(folder, cover), cover, .init()), .there)
        let second = try state.begin(row(folder, cover, run: 2), cover, .init())
        try state.set(second, .undone)
        #expect(try state.begin(row(folder, cover, run: 3), cover, .init()).state == .begun)
        try state.set(first, .removed, at: first.time)
        #expect(throws: Objection.removed(first.path)) { try state.begin(row(folder, cover), cover, .init()) }
        let offer = SourceCandidate(Decision(.accepted, cover.name, of: "1"))
        #expect(try state.objection(to: offer, for: "1", in: folder.path, .init()) == .removed(first.path))
        #expect(try state.objection(to: offer, for: "1", in: BytePath("/elsewhere"), .init()) == nil)
        // An acceptance outweighs the removal, and an undo after it counts.
        try state.add([Decision(.accepted, cover.name, of: "1", time: first.time + 1)])
        try state.set(second, .undone, at: first.time + 2)
        var quiet = FillOptions()
        quiet.isUnwatched = true
        #expect(throws: Objection.undone(first.path)) { try state.begin(row(folder, cover), cover, quiet) }
    }

    @Test func `what an undo took back is written again only by a fill that somebody watches`() throws {
        let folder = try Folder()
        let state = try state(folder)
        let cover = try picture(folder, "one")
        let written = try state.set(try state.begin(row(folder, cover), cover, .init()), .undone)
        var quiet = FillOptions()
        quiet.isUnwatched = true
        #expect(throws: Objection.undone(written.path)) { try state.begin(row(folder, cover), cover, quiet) }
        let again = try state.begin(row(folder, cover, run: 2), cover, .init())
        #expect(again.number > written.number && again.state == .begun)
    }
}
