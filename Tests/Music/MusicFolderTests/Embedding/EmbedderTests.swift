import CoverSources
import Foundation
import MusicFiles
import Platform
import Synchronization
import Testing

@testable import MusicFolder

/// Real folders, and a worker in this process.
@Suite struct EmbedderTests {
    private static let cover = MusicPicture.large

    /// A folder with an album's files and its cover, and what is remembered of it.
    private struct Shelf {
        let folder: Folder
        let state: MusicState
        var start = Shelf.reader
        var timeout = Duration.seconds(30)

        init(_ files: (Folder) throws -> Void) throws {
            folder = try Folder()
            state = try MusicState(of: folder.text + "/state/albums.json") { _ in }
            try folder.file("album/cover.jpg", bytes: EmbedderTests.cover.bytes)
            try files(folder)
        }

        /// A worker that is a thread. It may use any amount of memory and time.
        private static let reader: TagWorkerProcess.Start = { input, output in
            let (input, output) = (dup(input), dup(output))
            for end in [input, output] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            WorkThread.start {
                _ = TagWorker(memoryLimit: .max, lifetime: 0).run(input: input, output: output)
                close(input)
                close(output)
            }
            return TagWorkerProcess(kill: {}, wait: { 0 })
        }

        private final class Events: Sendable { let list = Mutex<[EmbedEvent]>([]) }

        /// - Parameters:
        ///   - tags: The album tags of the album's files, by their names; nil if all files are the album's.
        ///   - cover: The cover that is for the tags alone.
        func embed(run: Int64? = 1, tags: [String: String]? = nil, cover: String? = nil) async throws -> [EmbedEvent] {
            let album = BytePath(folder.text + "/album")
            let tags = tags ?? Dictionary(uniqueKeysWithValues: names.map { ($0, "Low Tide") })
            let songs = Dictionary(uniqueKeysWithValues: tags.map { (Song.hash(of: Array($0.utf8)), $1) })
            let picture = cover.map {
                FillPicture(
                    path: BytePath($0), digest: Digest(of: [0]),
                    name: PictureName(.itunes, AlbumQuery(artist: "", title: ""), urls: []))
            }
            let job = EmbedJob(
                album: "1", title: "Low Tide", titles: ["Low Tide"], songs: [album: songs], coverFolders: [album],
                cover: picture)
            let events = Events()
            var embedder = Embedder(state, start: start)
            embedder.timeout = timeout
            _ = try await embedder.run(
                [job], run: run, onEvent: { event in events.list.withLock { $0.append(event) } }, progress: { _ in },
                isCancelled: { false })
            return events.list.withLock { $0 }
        }

        func undo() async throws -> [Undo.Step] {
            try await WorkThread.run { [state, start, folder] in
                try Undo.run(state, start: start) { _ in folder.text + "/none" }.steps
            }
        }

        func bytes(_ name: String) -> [UInt8] {
            (try? Data(contentsOf: URL(filePath: "\(folder.text)/album/\(name)"))).map(Array.init) ?? []
        }

        func picture(_ name: String) throws -> Digest? {
            try TagReader().read(BytePath("\(folder.text)/album/\(name)")).get().picture?.digest
        }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.text + "/album")) ?? []).sorted()
        }
    }

    private static let digest = Digest(of: cover.bytes)

    @Test func `files without a picture get the cover, with the permissions that they have, and undo gives them back`()
        async throws
    {
        let shelf = try Shelf { folder in
            for format in MusicFile.written {
                let file = try folder.file("album/a.\(format)")
                try #require(file.withCString { chmod($0, 0o640) } == 0)
            }
        }
        let before = Dictionary(uniqueKeysWithValues: shelf.names.map { ($0, shelf.bytes($0)) })
        let planned = try await shelf.embed(run: nil)
        #expect(planned.count == MusicFile.written.count)
        #expect(before.allSatisfy { shelf.bytes($0.key) == $0.value })
        let events = try await shelf.embed()
        #expect(events.count == MusicFile.written.count)
        for format in MusicFile.written {
            let (name, path) = ("a.\(format)", "\(shelf.folder.text)/album/a.\(format)")
            #expect(events.contains(.embedded(BytePath(path), bytes: shelf.bytes(name).count)))
            #expect(try shelf.picture(name) == Self.digest)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        }
        #expect(shelf.names == before.keys.sorted())
        #expect(try await shelf.embed().isEmpty)
        let undone = try await shelf.undo()
        #expect(undone.count == events.count && undone.allSatisfy { $0.step == .remove })
        for (name, bytes) in before { #expect(shelf.bytes(name) == bytes) }
        #expect(try shelf.state.written(.tags).isEmpty)
    }

    @Test func `a file with a cover stays as it is, and so does one without an album`() async throws {
        let shelf = try Shelf { folder in
            try folder.file("album/front.mp3", MusicTags(pictures: [.jpeg(10, 10)]))
            try folder.file("album/only.flac", MusicTags(pictures: [.jpeg(10, 10, type: 0)]))
            try folder.file("album/loose.mp3", MusicTags(album: ""))
        }
        #expect(try await shelf.embed().isEmpty)
    }

    @Test func `a back cover stays beside the cover that is written`() async throws {
        let shelf = try Shelf { try $0.file("album/back.flac", MusicTags(pictures: [.jpeg(10, 10, type: 4)])) }
        #expect(try await shelf.embed().count == 1)
        let tags = try TagReader().read(BytePath(shelf.folder.text + "/album/back.flac")).get()
        #expect(tags.pictureCount == 2 && tags.picture?.digest == Self.digest)
    }

    @Test func `an album's files are those that were scanned as its own, whatever titles others have`() async throws {
        let shelf = try Shelf { folder in
            try folder.file("album/disc.mp3", MusicTags(album: "low tide (Disc 2)"))
            // Of another album of that title, and of this one until its tags were edited after the scan.
            try folder.file("album/namesake.mp3", MusicTags())
            try folder.file("album/edited.mp3", MusicTags(album: "High Water"))
        }
        let events = try await shelf.embed(tags: ["disc.mp3": "low tide (Disc 2)", "edited.mp3": "Low Tide"])
        #expect(events.count == 1)
        #expect(try shelf.picture("disc.mp3") == Self.digest)
        #expect(try shelf.picture("namesake.mp3") == nil && shelf.picture("edited.mp3") == nil)
    }

    @Test func `a cover for the tags alone is not the one beside the files, and one that is gone is said`() async throws
    {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        let own = MusicPicture.jpeg(40, 40, number: 7)
        try shelf.folder.file("own.jpg", bytes: own.bytes)
        let gone = try await shelf.embed(tags: ["a.mp3": "Low Tide"], cover: shelf.folder.text + "/gone.jpg")
        guard case .unwritable? = gone.first, gone.count == 1 else { throw Unexpected(events: gone) }
        _ = try await shelf.embed(tags: ["a.mp3": "Low Tide"], cover: shelf.folder.text + "/own.jpg")
        #expect(try shelf.picture("a.mp3") == Digest(of: own.bytes))
    }

    @Test func `the cover of an album that was in the folder before goes into no song`() async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        let folder = BytePath(shelf.folder.text + "/album")
        for (album, count) in [("2", 0), ("1", 1)] {
            var row = Written(
                folder: folder, name: Array("cover.jpg".utf8), digest: Digest(of: Self.cover.bytes), album: album,
                run: 1)
            row.number = 1
            try shelf.state.save(row)
            #expect(try await shelf.embed(run: 2).count == count)
        }
    }

    @Test func `a picture that a person has taken out of a song is not written there again`() async throws {
        let shelf = try Shelf { folder in for name in ["a", "b"] { try folder.file("album/\(name).mp3") } }
        let before = shelf.bytes("a.mp3")
        _ = try await shelf.embed()
        try shelf.folder.file("album/a.mp3", bytes: before)
        for _ in 0..<2 {
            let events = try await shelf.embed(run: 2)
            let path = BytePath(shelf.folder.text + "/album/a.mp3")
            #expect(events == [.refused(path, .removed(path))])
            #expect(shelf.bytes("a.mp3") == before && shelf.names == ["a.mp3", "b.mp3", "cover.jpg"])
        }
        // Other audio of that name is another song.
        let other = before + [0xFF, 0xFB, 0x90, 0x00] + zeros(413)
        try shelf.folder.file("album/a.mp3", bytes: other)
        #expect(try await shelf.embed(run: 3).count == 1)
        #expect(try shelf.picture("a.mp3") == Self.digest)
    }

    @Test func `an accepted cover replaces that of a fill in the tags, and undo puts it back`() async throws {
        let shelf = try Shelf { folder in for name in ["a", "b"] { try folder.file("album/\(name).mp3") } }
        _ = try await shelf.embed()
        try shelf.folder.file("album/b.mp3", MusicTags(pictures: [.jpeg(10, 10)]))
        let mine = shelf.bytes("b.mp3")
        let new = MusicPicture.jpeg(50, 50, number: 7)
        let path = try shelf.folder.file("new.jpg", bytes: new.bytes).description
        #expect(try await shelf.embed(run: 2, cover: path).isEmpty, "nobody has accepted it")
        var name = PictureName(.itunes, AlbumQuery(artist: "", title: ""), urls: [])
        name.digest = Digest(of: [0]).description
        try shelf.state.add([Decision(.accepted, name, of: "1")])
        #expect(try await shelf.embed(run: 2, cover: path).count == 1)
        #expect(try shelf.picture("a.mp3") == Digest(of: new.bytes) && shelf.bytes("b.mp3") == mine)
        let undone = try await shelf.undo()
        guard case .restore? = undone.first?.step else { throw Unexpected(events: []) }
        #expect(try shelf.picture("a.mp3") == Self.digest)
        #expect(try await shelf.undo().contains { $0.step == .remove })
        #expect(try shelf.picture("a.mp3") == nil && shelf.bytes("b.mp3") == mine)
    }

    @Test func `a fill's picture stays in a song where the accepted one may not be written`() async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        _ = try await shelf.embed()
        let path = try shelf.folder.file("new.jpg", bytes: MusicPicture.jpeg(50, 50, number: 7).bytes).description
        var name = PictureName(.itunes, AlbumQuery(artist: "", title: ""), urls: [])
        name.digest = Digest(of: [0]).description
        try shelf.state.add([Decision(.accepted, name, of: "1")])
        var removed = try #require(try shelf.state.written(.tags).first)
        (removed.number, removed.digest) = (0, Digest(of: [0]))
        removed.number = try shelf.state.save(removed)
        try shelf.state.set(removed, .removed)
        let events = try await shelf.embed(run: 2, cover: path)
        #expect(events == [.refused(removed.path, .removed(removed.path))], "a person took it out since")
        #expect(try shelf.picture("a.mp3") == Self.digest)
    }

    @Test(arguments: [false, true])
    func `a cover for tags that were corrected replaces that of a fill in the tags, and an upgrade does not`(
        isCorrected: Bool
    ) async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        func row(_ picture: MusicPicture, _ run: Int64, facts: UInt8) -> Written {
            var row = Written(
                folder: BytePath(shelf.folder.text + "/album"), name: Array("cover.jpg".utf8),
                digest: Digest(of: picture.bytes), album: "1", run: run)
            row.facts = AlbumQuery(artist: "A", title: "\(facts)")
            return row
        }
        let new = MusicPicture.jpeg(50, 50, number: 7)
        let number = try shelf.state.save(row(Self.cover, 1, facts: 1))
        _ = try await shelf.embed()
        #expect(try shelf.picture("a.mp3") == Self.digest)
        try shelf.folder.file("album/cover.jpg", bytes: new.bytes)
        var replacing = row(new, 2, facts: isCorrected ? 2 : 1)
        replacing.replaced = number
        try shelf.state.save(replacing)
        #expect(try await shelf.embed(run: 2).count == (isCorrected ? 1 : 0))
        #expect(try shelf.picture("a.mp3") == (isCorrected ? Digest(of: new.bytes) : Self.digest))
    }

    @Test(arguments: [false, true])
    func `undo finds songs that were renamed, and retagged after a scan`(isRetagged: Bool) async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        try shelf.state.add(roots: [shelf.folder.path])
        _ = try await shelf.embed()
        let new = BytePath(shelf.folder.text + "/other/new.mp3")
        if isRetagged {
            try shelf.folder.file("other/new.mp3", MusicTags(artist: "Another", pictures: [Self.cover]))
            unlink(shelf.folder.text + "/album/a.mp3")
            var record = AlbumRecord(id: "1")
            record.places = [AlbumPlace()]
            record.places[0].folders = [BytePath(shelf.folder.text + "/other")]
            try shelf.state.save([record])
        } else {
            try shelf.folder.file("other/new.mp3", bytes: shelf.bytes("a.mp3"))
            unlink(shelf.folder.text + "/album/a.mp3")
        }
        let undone = try await shelf.undo()
        #expect(undone.map(\.row.path) == [new] && undone.map(\.step) == [.remove])
        #expect(try TagReader().read(new).get().picture == nil)
    }

    @Test func `undo says of a file that is gone that it was`() async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        _ = try await shelf.embed()
        unlink(shelf.folder.text + "/album/a.mp3")
        #expect(try await shelf.undo().map(\.step) == [.stayAway])
    }

    @Test func `files of formats that are not written are said, and stay as they are`() async throws {
        let others = MusicFile.allCases.filter { !MusicFile.written.contains($0) }
        let shelf = try Shelf { folder in
            for format in others { try folder.file("album/a.\(format)") }
            try folder.file("album/a.MKA", bytes: [1, 2, 3])
            try folder.file("album/with a picture.wma", MusicTags(pictures: [.jpeg(10, 10)]))
        }
        let before = shelf.names.map { shelf.bytes($0) }
        for run in [nil, 1] as [Int64?] {
            var summary = EmbedSummary()
            for event in try await shelf.embed(run: run) { summary.add(event) }
            let expected = others.map { "\($0)".uppercased() } + ["MKA"]
            #expect(summary.otherFormats == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
            #expect(summary.failed == 0 && summary.embedded == 0)
        }
        #expect(shelf.names.map { shelf.bytes($0) } == before)
    }

    @Test func `an MP3 whose only tag is APEv2 stays as it is`() async throws {
        let ape = MusicFile.ape.bytes(MusicTags())[80...]
        let bytes = MusicFile.mp3.bytes(MusicTags()).suffix(3 * 417) + ape
        let shelf = try Shelf { try $0.file("album/a.mp3", bytes: Array(bytes)) }
        let path = BytePath(shelf.folder.text + "/album/a.mp3")
        #expect(try await shelf.embed() == [.otherFormat(path, format: "MP3 with an APEv2 tag")])
        #expect(shelf.bytes("a.mp3") == Array(bytes) && shelf.names == ["a.mp3", "cover.jpg"])
    }

    @Test func `a file with two names is left alone`() async throws {
        let shelf = try Shelf { folder in
            let file = try folder.file("album/a.mp3")
            try FileManager.default.linkItem(atPath: file.description, toPath: folder.text + "/b.mp3")
        }
        let before = shelf.bytes("a.mp3")
        let events = try await shelf.embed()
        guard case .left(_, let reason)? = events.first else { throw Unexpected(events: events) }
        #expect(reason.contains("hard links") && shelf.bytes("a.mp3") == before)
    }

    private struct Unexpected: Error { var events: [EmbedEvent] }

    @Test func `other edits of tags stay when the cover is taken out`() async throws {
        let shelf = try Shelf { try $0.file("album/a.flac") }
        _ = try await shelf.embed()
        let edited = MusicTags(artist: "Another", pictures: [.jpeg(10, 10, type: 4), Self.cover])
        try shelf.folder.file("album/a.flac", edited)
        #expect(try await shelf.undo().map(\.step) == [.remove])
        let tags = try TagReader().read(BytePath(shelf.folder.text + "/album/a.flac")).get()
        #expect(tags.artist == "Another" && tags.pictureCount == 1 && tags.picture == nil)
    }

    @Test(arguments: [MusicPicture.jpeg(10, 10), nil])
    func `another picture, and other audio with the same cover, stay`(picture: MusicPicture?) async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        _ = try await shelf.embed()
        if let picture {
            try shelf.folder.file("album/a.mp3", MusicTags(pictures: [picture]))
        } else {
            try shelf.folder.file("album/a.mp3", bytes: shelf.bytes("a.mp3") + [0xFF, 0xFB, 0x90, 0x00] + zeros(413))
        }
        let before = shelf.bytes("a.mp3")
        #expect(try await shelf.undo().map(\.step) == [.keep])
        #expect(shelf.bytes("a.mp3") == before)
    }

    @Test func `a read-only file stays as it is`() async throws {
        let shelf = try Shelf { try $0.file("album/a.mp3") }
        let path = shelf.folder.text + "/album/a.mp3"
        chmod(path, 0o444)
        let before = shelf.bytes("a.mp3")
        #expect(try await shelf.embed() == [.left(BytePath(path), reason: "is read-only, so its tags are not written")])
        #expect(shelf.bytes("a.mp3") == before && shelf.names == ["a.mp3", "cover.jpg"])
    }

    @Test func `a copy whose tags are read as others than those of the file is refused`() throws {
        let folder = try Folder()
        let path = try folder.file("album/a.mp3")
        let copy = try folder.file("album/copy.mp3", bytes: Self.cover.bytes)
        let reader = TagReader()
        func outcome(ofReading change: @escaping (inout AudioTags) -> Void) throws -> ChangeOutcome {
            try folder.file("album/copy.mp3", bytes: Self.cover.bytes)
            let copies = ChangedCopy { file in
                reader.read(file).map { tags in
                    var tags = tags
                    if file == copy { change(&tags) }
                    return tags
                }
            }
            return copies.make(TagChange(path: path, copy: copy, action: .add))
        }
        let refusal = ChangeOutcome.refused(
            reason: "was not written: the tags of the copy cannot be read as they should be")
        #expect(try outcome { $0.album = "Another" } == refusal)
        #expect(try outcome { $0.pictureCount = 0 } == refusal)
        guard case .made = try outcome(ofReading: { _ in }) else { throw Unexpected(events: []) }
    }

    private static let made = TagLaneTests.line(ChangeOutcome.made(audio: Digest(of: cover.bytes)))

    /// A worker for which every file has an album and no picture, and which runs `change` to make a copy of `$path` in `$copy`.
    private static func worker(change: String) -> TagWorkerProcess.Start {
        TagLaneTests.worker(
            """
            while IFS= read -r line; do
                if [[ $line == /* ]]; then printf '\(TagLaneTests.answer)' 'Low Tide'; continue; fi
                \(TagLaneTests.extract("path"))
                \(TagLaneTests.extract("copy"))
                \(change)
                printf '\(made)'
            done
            """)
    }

    @Test func `a file that another program changes meanwhile keeps that change`() async throws {
        var shelf = try Shelf { try $0.file("album/a.mp3") }
        shelf.start = Self.worker(change: "printf more >>\"$path\"")
        let before = shelf.bytes("a.mp3")
        let events = try await shelf.embed()
        let path = BytePath("\(shelf.folder.text)/album/a.mp3")
        #expect(events == [.left(path, reason: "was changed meanwhile, so its tags are not written")])
        #expect(shelf.bytes("a.mp3") == before + Array("more".utf8) && shelf.names == ["a.mp3", "cover.jpg"])
    }

    @Test func `a file that ends or stops its worker is one that is named, and the others get the cover`() async throws
    {
        var shelf = try Shelf { folder in for number in 1...4 { try folder.file("album/\(number).mp3") } }
        shelf.start = Self.worker(
            change: """
                case $path in
                    */2.mp3) printf half >"$copy"; kill -SEGV $$ ;;
                    */3.mp3) exec sleep 1000 ;;
                esac
                cp "$path" "$copy"
                """)
        shelf.timeout = .seconds(1)
        let before = shelf.names.map { shelf.bytes($0) }
        let events = try await shelf.embed()
        let paths = (1...4).map { BytePath("\(shelf.folder.text)/album/\($0).mp3") }
        #expect(
            events == [
                .embedded(paths[0], bytes: before[0].count),
                .left(paths[1], reason: "crashed its parser (signal 11)"),
                .left(paths[2], reason: "took longer than 1 s"), .embedded(paths[3], bytes: before[3].count),
            ])
        #expect(shelf.names == (1...4).map { "\($0).mp3" } + ["cover.jpg"])
        #expect(shelf.names.map { shelf.bytes($0) } == before)
        #expect(try shelf.state.written(.tags).map(\.path) == [paths[0], paths[3]])
    }
}
