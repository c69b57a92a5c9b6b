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

        private func observing(
            _ body: (Embedder, Embedder.Observer) async throws -> EmbedSummary
        ) async throws -> [EmbedEvent] {
            let events = Events()
            let observer = Embedder.Observer(
                onEvent: { event in events.list.withLock { $0.append(event) } }, progress: { _ in },
                isCancelled: { false })
            _ = try await body(Embedder(state, start: start), observer)
            return events.list.withLock { $0 }
        }

        func embed(run: Int64? = 1) async throws -> [EmbedEvent] {
            let album = BytePath(folder.text + "/album")
            let job = EmbedJob(title: "Low Tide", folders: [album], coverFolders: [album])
            return try await observing { try await $0.run([job], run: run, $1) }
        }

        func undo() async throws -> [EmbedEvent] {
            let covers = try state.embeddedCovers(ofRun: state.runs().first ?? 0)
            return try await observing { try await $0.undo(covers, $1) }
        }

        func bytes(_ name: String) -> [UInt8] {
            (try? Data(contentsOf: URL(filePath: "\(folder.text)/album/\(name)"))).map(Array.init) ?? []
        }

        func picture(_ name: String) throws -> String? {
            try TagReader().read(BytePath("\(folder.text)/album/\(name)")).get().picture?.digest
        }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.text + "/album")) ?? []).sorted()
        }
    }

    private static let digest = Digest(of: cover.bytes).description

    @Test func `files without a picture get the cover, with the permissions that they have, and undo gives them back`()
        async throws
    {
        let shelf = try Shelf { folder in
            for format in MusicFile.allCases {
                let file = try folder.file("album/a.\(format)")
                try #require(file.withCString { chmod($0, 0o640) } == 0)
            }
        }
        let before = Dictionary(uniqueKeysWithValues: shelf.names.map { ($0, shelf.bytes($0)) })
        let planned = try await shelf.embed(run: nil)
        #expect(planned.count == MusicFile.allCases.count)
        #expect(before.allSatisfy { shelf.bytes($0.key) == $0.value })
        let events = try await shelf.embed()
        #expect(events.count == MusicFile.allCases.count)
        for format in MusicFile.allCases {
            let (name, path) = ("a.\(format)", "\(shelf.folder.text)/album/a.\(format)")
            #expect(events.contains(.embedded(BytePath(path), bytes: shelf.bytes(name).count)))
            #expect(try shelf.picture(name) == Self.digest)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        }
        #expect(shelf.names == before.keys.sorted())
        #expect(try await shelf.embed().isEmpty)
        let undone = try await shelf.undo()
        #expect(undone.count == events.count && undone.allSatisfy { if case .removed = $0 { true } else { false } })
        for (name, bytes) in before where name != "a.wav" && name != "a.aiff" { #expect(shelf.bytes(name) == bytes) }
        #expect(try shelf.state.embeddedCovers(ofRun: 1).isEmpty)
    }

    @Test func `a file with a picture stays as it is, and so does one without an album`() async throws {
        let shelf = try Shelf { folder in
            try folder.file("album/front.mp3", MusicTags(pictures: [.jpeg(10, 10)]))
            try folder.file("album/only.flac", MusicTags(pictures: [.jpeg(10, 10, type: 4)]))
            try folder.file("album/loose.mp3", MusicTags(album: ""))
        }
        #expect(try await shelf.embed().isEmpty)
    }

    @Test func `a file of a kind that is not written is said`() async throws {
        let shelf = try Shelf { try $0.file("album/a.MKA", bytes: [1, 2, 3]) }
        let path = BytePath(shelf.folder.text + "/album/a.MKA")
        #expect(try await shelf.embed() == [.left(path, reason: "has a format whose tags are not written")])
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
        #expect(try await shelf.undo() == [.removed(BytePath(shelf.folder.text + "/album/a.flac"))])
        let tags = try TagReader().read(BytePath(shelf.folder.text + "/album/a.flac")).get()
        #expect(tags.artist == "Another" && tags.pictureCount == 1 && tags.picture?.type == 4)
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
        #expect(try await shelf.undo() == [.kept(BytePath(shelf.folder.text + "/album/a.mp3"))])
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

    @Test func `a copy whose tags cannot be read as they should be is thrown away`() async throws {
        var shelf = try Shelf { try $0.file("album/a.mp3") }
        // It never finds a picture.
        shelf.start = TagLaneTests.worker("while IFS= read -r -d '' path; do printf 'aLow Tide\\0\\0'; done")
        let before = shelf.bytes("a.mp3")
        let events = try await shelf.embed()
        guard case .left(_, let reason)? = events.first else { throw Unexpected(events: events) }
        #expect(reason.contains("was not written"))
        #expect(shelf.bytes("a.mp3") == before && shelf.names == ["a.mp3", "cover.jpg"])
        #expect(try shelf.state.embeddedCovers(ofRun: 1).isEmpty)
    }

    @Test func `a file that another program changes meanwhile keeps that change`() async throws {
        var shelf = try Shelf { try $0.file("album/a.mp3") }
        let path = "\(shelf.folder.text)/album/a.mp3"
        // It changes the file when the copy is to be read.
        shelf.start = TagLaneTests.worker(
            """
            while IFS= read -r -d '' path; do
                case $path in
                    *.part) printf more >>'\(path)'; printf 'aLow Tide\\0n1\\0p3 1 0 0\\0s\(Self.digest)\\0\\0' ;;
                    *) printf 'aLow Tide\\0\\0' ;;
                esac
            done
            """)
        let before = shelf.bytes("a.mp3")
        let events = try await shelf.embed()
        #expect(events == [.left(BytePath(path), reason: "was changed meanwhile, so its tags are not written")])
        #expect(shelf.bytes("a.mp3") == before + Array("more".utf8) && shelf.names == ["a.mp3", "cover.jpg"])
    }
}
