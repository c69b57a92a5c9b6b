@testable import CoverSources
import CoverSizes
import Foundation
import Platform
import Testing

@testable import MusicFolder

/// The table of what a person has decided, and its copy.
@Suite struct MusicDecisionTests {
    private static let album = AlbumQuery(artist: "A", title: "B")

    private func name(
        _ id: String, _ digest: UInt8? = nil, _ likeness: Likeness? = nil, source: SourceName = .deezer
    ) -> PictureName {
        var name = SourceCandidate(
            source: source, album: Self.album, pictures: ["https://\(source).example/\(id)"], id: id
        ).name
        (name.digest, name.likeness) = (digest.map { Digest(of: [$0]).description }, likeness)
        return name
    }

    @Test(arguments: [true, false])
    func `in tags, too, a picture that is accepted no longer gives way to the cover before it`(isAllowed: Bool) throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { Issue.record("\($0)") }
        let path = folder.path.appending(Array("cover.jpg".utf8))
        var last: Int64?
        for (run, byte) in [1, 2, 1].enumerated() {
            var row = Written(
                folder: folder.path, name: path.name, digest: Digest(of: [UInt8(byte)]), album: "1", run: Int64(run))
            (row.facts, row.replaced) = (Self.album, last)
            last = try state.save(row)
            try state.transaction { try state.insert(name("\(byte)"), of: row.digest) }
        }
        try state.add([Decision(.accepted, name("2"), of: "1")])
        if isAllowed { try state.add([Decision(.allowed, name("2"), of: "1")]) }
        let cover = FillPicture(path: path, digest: Digest(of: [1]), name: name("1"))
        #expect(try state.outdatedPictures(before: cover) == (isAllowed ? [Digest(of: [2])] : []))
    }

    @Test func `decisions are those of an album, and come back from their copy, undone ones undone`() throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        func expectAll(_ state: MusicState) throws {
            #expect(try state.decisions(of: "1").ruling(on: name("a")) == .refused)
            #expect(try state.decisions(of: "2").ruling(on: name("a")) == nil)
            #expect(try state.decisions(of: "2").ruling(on: name("b")) == .refused)
            #expect(try state.runs().isEmpty && state.nextRun() == 8)
        }
        do {
            let state = try MusicState(of: library) { Issue.record("\($0)") }
            try state.add([Decision(.refused, name("a"), of: "1"), Decision(.refused, name("b"), of: "2")])
            try state.add([Decision(.accepted, name("b", 1, .made(3, noise: 1, pixelCount: 5)), of: "2", run: 7)])
            #expect(try state.decisions(of: "2").ruling(on: name("b")) == .accepted)
            #expect(try state.acceptances().map(\.album) == ["2"] && state.runs() == [7])
            try state.withdrawDecisions(ofRun: 7)
            try expectAll(state)
        }
        let database = library + ".state/music.sqlite3"
        try FileManager.default.removeItem(atPath: database)
        // A line that a kill has cut off.
        let copy = try FileHandle(forWritingTo: URL(filePath: library + ".state/decisions.jsonl"))
        try copy.seekToEnd()
        try copy.write(contentsOf: Data("{\"number\":9,".utf8))
        try copy.close()
        var notices: [String] = []
        let state = try MusicState(of: library) { notices.append($0) }
        #expect(notices.count == 1 && notices[0].contains("decisions.jsonl"))
        try expectAll(state)
        try state.add([Decision(.allowed, name("b"), of: "2")])
        try FileManager.default.removeItem(atPath: database)
        #expect(try MusicState(of: library) { _ in }.decisions(of: "2").ruling(on: name("b")) == .allowed)
    }

    @Test func `decisions that another process adds are seen, and read without a lock`() throws {
        let folder = try Folder()
        let library = folder.text + "/albums.json"
        #expect(try MusicState.existing(of: library) == nil)
        let state = try MusicState(of: library) { Issue.record("\($0)") }
        #expect(try state.tryLock() && state.decisions(of: "1").isEmpty)
        try MusicState(of: library) { Issue.record("\($0)") }.add([Decision(.refused, name("a"), of: "1")])
        #expect(try state.decisions(of: "1").ruling(on: name("a")) == .refused)
        #expect(try MusicState.existing(of: library)?.decisions()["1"]?.ruling(on: name("a")) == .refused)
    }

    @Test func `where the bytes of both are known they decide, not the name`() {
        func made(_ number: UInt64, _ count: Int) -> Likeness { .made(number, noise: 1, pixelCount: count) }
        let refused = Decisions([Decision(.refused, name("a", 1, made(3, 90_000)), of: "1")])
        #expect(refused.ruling(on: name("a")) == .refused, "only one is known")
        #expect(refused.ruling(on: name("z", 1, source: .itunes)) == .refused, "the same bytes at another service")
        #expect(refused.ruling(on: name("a", 2, made(4, 90_000))) == nil, "another picture is there by now")
        #expect(refused.ruling(on: name("a", 2, made(3, 10_000))) == .refused, "another rendition")
        #expect(refused.ruling(on: name("a", 2)) == .refused, "nothing can be compared")
    }

    @Test func `what was said is taken back as it was said, even if the cache knows other bytes by now`() {
        let candidate = SourceCandidate(
            source: .deezer, album: Self.album, pictures: ["https://deezer.example/a"], id: "a")
        var said = [Decision(.refused, name("a", 1), of: "1"), Decision(.refused, name("b", 2), of: "1")]
        said += Decisions(said).allowing([candidate])
        said[2].number = 9
        #expect(said.map(\.picture) == [name("a", 1), name("b", 2), name("a", 1)])
        #expect(Decisions(said).current.map(\.picture) == [name("b", 2)])
    }

    @Test func `of entries with the same bytes each is taken back, so that none is refused by its name`() {
        func candidate(_ id: String) -> SourceCandidate {
            SourceCandidate(source: .deezer, album: Self.album, pictures: ["https://deezer.example/\(id)"], id: id)
        }
        for names in [["a", "b"], ["a"]] {
            var said = ["a", "b"].map { Decision(.refused, name($0, 1), of: "1") }
            for index in said.indices { said[index].number = Int64(index + 1) }
            for decision in Decisions(said).allowing(names.map(candidate)) {
                said.append(decision)
                said[said.count - 1].number = Int64(said.count)
            }
            #expect(said.count == 4)
            for one in ["a", "b"] { #expect(Decisions(said).ruling(on: name(one)) == .allowed, "bytes not known") }
        }
    }

    @Test func `a picture of another entry that shows the same is like a refused one, and not accepted for that`() {
        let (one, other) = (
            Likeness.made(3, noise: 1, pixelCount: 90_000), Likeness.made(3, noise: 1, pixelCount: 10_000)
        )
        let picture = name("z", 2, other, source: .itunes)
        for (verdict, isLike) in [(Decision.Verdict.refused, true), (.accepted, false), (.allowed, false)] {
            let decisions = Decisions([Decision(verdict, name("a", 1, one), of: "1")])
            #expect(decisions.ruling(on: picture) == (isLike ? .alike : nil))
        }
    }
}
