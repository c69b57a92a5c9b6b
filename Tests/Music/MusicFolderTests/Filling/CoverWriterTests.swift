import AlbumLibrary
import CoverSources
import Files
import Foundation
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

/// Real folders, and a state in a file.
@Suite struct CoverWriterTests {
    struct Shelf {
        let root: String
        var album: String { root + "/music/album" }
        var library: String { root + "/albums.json" }

        init() throws {
            root = FileManager.default.temporaryDirectory.path() + "sleeve-writer-" + UUID().uuidString
            try MusicFile.write(album + "/1.mp3")
        }

        func remove() { try? FileManager.default.removeItem(atPath: root) }

        /// A cover's file as the cache has it.
        func cached(_ side: Int, number: Int = 0) throws -> FillPicture {
            try cached(MusicPicture.jpeg(side, side, number: number).bytes)
        }

        func cached(_ bytes: [UInt8]) throws -> FillPicture {
            let digest = Digest(of: bytes)
            let path = "\(root)/\(digest)"
            try Data(bytes).write(to: URL(filePath: path))
            let name = PictureName(
                .itunes, AlbumQuery(artist: "A", title: "Low Tide"), urls: ["https://a.example/\(digest)"])
            return FillPicture(path: BytePath(path), digest: digest, name: name)
        }

        var target: FillJob.Target {
            .init(folder: BytePath(album), audioFolders: [BytePath(album)], former: nil)
        }

        func state() throws -> MusicState { try MusicState(of: library) { _ in } }

        func write(
            _ cover: FillPicture, former: Written? = nil, of album: String = "1", options: FillOptions = .init()
        ) async throws -> CoverWriter.Result {
            var target = target
            target.former = former
            return try await CoverWriter(try state(), name: "cover", options: options).write(
                cover, to: target, of: album, titles: ["Low Tide"])
        }

        /// Takes the last fill back.
        /// - Parameter cache: The folder of cached covers.
        func undo(cache: String? = nil) throws -> [Undo.Step] {
            try Undo.run(try state(), start: { _, _ in TagWorkerProcess(kill: {}, wait: { 0 }) }) { digest in
                "\(cache ?? root)/\(digest)"
            }.steps
        }

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: album)) ?? []).filter { $0 != "1.mp3" }.sorted()
        }

        func bytes(_ name: String) -> [UInt8] {
            (try? Data(contentsOf: URL(filePath: "\(album)/\(name)"))).map(Array.init) ?? []
        }
    }

    func withShelf(_ body: (Shelf) async throws -> Void) async throws {
        let shelf = try Shelf()
        defer { shelf.remove() }
        try await body(shelf)
    }

    func written(_ result: CoverWriter.Result) throws -> Written {
        guard case .written(let file, _) = result else { throw Unexpected(result: result) }
        return file
    }

    private struct Unexpected: Error { var result: CoverWriter.Result }

    @Test func `a cover gets the type's extension and the permissions of the music`() async throws {
        try await withShelf { shelf in
            chmod(shelf.album + "/1.mp3", 0o755)
            let cover = try shelf.cached(500)
            let file = try written(try await shelf.write(cover))
            #expect(shelf.files == ["cover.jpg"])
            #expect(Digest(of: shelf.bytes("cover.jpg")) == cover.digest)
            let mode = try FileManager.default.attributesOfItem(atPath: shelf.album + "/cover.jpg")[.posixPermissions]
            #expect(mode as? Int == 0o644)
            #expect(try shelf.state().written() == [file])
        }
    }

    @Test(arguments: ["cover.png", "Folder.JPG", "FRONT.webp", "Low Tide.jpg"])
    func `a cover under any known name stays the only one`(name: String) async throws {
        try await withShelf { shelf in
            try Data("mine".utf8).write(to: URL(filePath: "\(shelf.album)/\(name)"))
            let result = try await shelf.write(try shelf.cached(500))
            #expect(result == .exists(BytePath("\(shelf.album)/\(name)")))
            #expect(shelf.files == [name])
            #expect(shelf.bytes(name) == Array("mine".utf8))
            #expect(try shelf.state().written().isEmpty)
        }
    }

    @Test func `what is no cover and has the file's name is said, and stays`() async throws {
        try await withShelf { shelf in
            try FileManager.default.createDirectory(
                atPath: shelf.album + "/cover.jpg", withIntermediateDirectories: true)
            let result = try await shelf.write(try shelf.cached(500))
            guard case .failed(_, let reason) = result else { throw Unexpected(result: result) }
            #expect(reason.contains("has the name of the file"))
            #expect(shelf.files == ["cover.jpg"])
        }
    }

    @Test(arguments: [1, 3]) func `a cover has the permissions of most of the songs, of all discs`(narrow: Int)
        async throws
    {
        try await withShelf { shelf in
            var target = shelf.target
            target.audioFolders.append(BytePath(shelf.root + "/music/album/CD2"))
            for (number, file) in ["1", "2", "CD2/1", "CD2/2"].enumerated() {
                let path = "\(shelf.album)/\(file).mp3"
                try MusicFile.write(path)
                chmod(path, number < narrow ? 0o600 : 0o644)
            }
            let cover = try shelf.cached(500)
            let file = try written(
                await CoverWriter(try shelf.state(), name: "cover").write(
                    cover, to: target, of: "1", titles: []))
            let mode = try FileManager.default.attributesOfItem(atPath: "\(file.path)")[.posixPermissions]
            #expect(mode as? Int == (narrow == 1 ? 0o644 : 0o600))
        }
    }

    @Test func `the owner can always read and write a cover, whatever the permissions of the music`() async throws {
        try await withShelf { shelf in
            chmod(shelf.album + "/1.mp3", 0)
            _ = try written(try await shelf.write(try shelf.cached(500)))
            let mode = try FileManager.default.attributesOfItem(atPath: shelf.album + "/cover.jpg")[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test func `a damaged file of the cache is not written`() async throws {
        try await withShelf { shelf in
            let cover = try shelf.cached(500)
            try Data("rotten".utf8).write(to: URL(filePath: "\(cover.path)"))
            #expect(
                try await shelf.write(cover)
                    == .failed(folder: BytePath(shelf.album), reason: "the cached cover is damaged"))
            #expect(shelf.files.isEmpty)
        }
    }

    @Test func `an upgrade replaces an unchanged file by a larger one, and undo brings it back`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let former = try written(try await shelf.write(small))
            #expect(try await shelf.write(small, former: former) == .notLarger(former.path))
            let file = try written(try await shelf.write(large, former: former))
            #expect(Digest(of: shelf.bytes("cover.jpg")) == large.digest)
            #expect(try shelf.state().written() == [file])
            #expect(try shelf.undo().map(\.step) == [.restore(former)])
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
        }
    }

    @Test func `an upgrade keeps a file that was changed since`() async throws {
        try await withShelf { shelf in
            let former = try written(try await shelf.write(try shelf.cached(300)))
            try Data("mine".utf8).write(to: URL(filePath: shelf.album + "/cover.jpg"))
            let result = try await shelf.write(try shelf.cached(900, number: 1), former: former)
            #expect(result == .exists(former.path))
            #expect(shelf.bytes("cover.jpg") == Array("mine".utf8))
        }
    }

    #if os(Linux)
        @Test func `an upgrade leaves a file that another program writes, and says so`() async throws {
            try await withShelf { shelf in
                let former = try written(try await shelf.write(try shelf.cached(300)))
                let other = open(shelf.album + "/cover.jpg", O_WRONLY | O_CLOEXEC)
                defer { close(other) }
                let result = try await shelf.write(try shelf.cached(900, number: 1), former: former)
                let reason = "the cover \(OwnFile.Refusal.openForWriting.reason)"
                #expect(result == .failed(folder: BytePath(shelf.album), reason: reason))
                #expect(Digest(of: shelf.bytes("cover.jpg")) == former.digest)
                #expect(try shelf.state().written() == [former])
            }
        }
    #endif

    @Test func `a cover that was replaced is kept for as long as undo may want it`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            var target = shelf.target
            target.former = try written(try await shelf.write(small))
            let state = try shelf.state()
            let kept = state.keptCover(small.digest)
            _ = try written(
                await CoverWriter(state, name: "cover").write(
                    large, to: target, of: "1", titles: [], keepsFormer: true))
            try shelf.state().sweepKept()
            #expect(access(kept, F_OK) == 0)
            // The cache has lost it.
            _ = try shelf.undo(cache: "/none")
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            #expect(access(kept, F_OK) != 0)
        }
    }

    @Test func `of a file that is taken back the library is told nothing`() async throws {
        try await withShelf { shelf in
            let cover = try shelf.cached(300)
            let writer = try CoverWriter(try shelf.state(), name: "cover")
            let file = try written(await writer.write(cover, to: shelf.target, of: "1", titles: []))
            #expect(try await writer.unnotedCovers().files == ["1": file])
            #expect(await writer.takeBack(file))
            #expect(try await writer.unnotedCovers().files.isEmpty && shelf.files.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `undo removes a file unless it was changed since`(isChanged: Bool) async throws {
        try await withShelf { shelf in
            let file = try written(try await shelf.write(try shelf.cached(300)))
            if isChanged { try Data("mine".utf8).write(to: URL(filePath: shelf.album + "/cover.jpg")) }
            let undone = try shelf.undo()
            #expect(undone.map(\.row.path) == [file.path] && undone.map(\.step) == [isChanged ? .keep : .remove])
            #expect(shelf.files == (isChanged ? ["cover.jpg"] : []))
            #expect(try shelf.state().written().isEmpty && shelf.undo().isEmpty)
        }
    }

    @Test func `a removal that a scan has noticed stays known when its fill is taken back`() async throws {
        try await withShelf { shelf in
            let file = try written(try await shelf.write(try shelf.cached(300)))
            try Data("mine".utf8).write(to: URL(filePath: shelf.album + "/cover.jpg"))
            try shelf.state().set(file, .removed)
            #expect(try shelf.undo().map(\.step) == [.keep])
            #expect(try shelf.state().written().map(\.state) == [.removed] && shelf.undo().isEmpty)
        }
    }

    @Test func `a cover that is no larger replaces and keeps nothing`() async throws {
        try await withShelf { shelf in
            let former = try written(try await shelf.write(try shelf.cached(900)))
            let small = try shelf.cached(300, number: 1)
            var target = shelf.target
            target.former = former
            let result = try await CoverWriter(try shelf.state(), name: "cover").write(
                small, to: target, of: "1", titles: ["Low Tide"], keepsFormer: true)
            #expect(result == .notLarger(former.path))
            #expect(access(try shelf.state().keptCover(former.digest), F_OK) != 0)
        }
    }

    @Test func `a cover replaces that of another album, which was in the folder before, even by a smaller one`()
        async throws
    {
        try await withShelf { shelf in
            let former = try written(try await shelf.write(try shelf.cached(900)))
            let small = try shelf.cached(300, number: 1)
            var target = shelf.target
            (target.former, target.outdated) = (former, .ofAnotherAlbum)
            let file = try written(
                await CoverWriter(try shelf.state(), name: "cover").write(
                    small, to: target, of: "2", titles: ["Rust"]))
            #expect(file.album == "2" && Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            #expect(try shelf.state().written() == [file])
        }
    }

    @Test func `a cover that a person has removed stays known, and does not keep the fill`() async throws {
        try await withShelf { shelf in
            let file = try written(try await shelf.write(try shelf.cached(300)))
            unlink(shelf.album + "/cover.jpg")
            let state = try shelf.state()
            #expect(try shelf.undo().map(\.step) == [.stayAway])
            #expect(try state.runs().isEmpty)
            #expect(try state.nextRun() > file.run)
            #expect(try state.written().map(\.path) == [file.path])
            #expect(try shelf.undo().isEmpty)
        }
    }

    @Test func `what is certain for today's tags replaces what was written for others, larger or not`() async throws {
        try await withShelf { shelf in
            let (large, small) = (try shelf.cached(900), try shelf.cached(300, number: 1))
            let former = try written(try await shelf.write(large))
            let upgrade = try await shelf.write(small, former: former)
            guard case .notLarger = upgrade else { throw Unexpected(result: upgrade) }
            var target = shelf.target
            (target.former, target.outdated) = (former, OutdatedCover(source: .itunes, isOther: false, cause: .tags))
            let writer = try CoverWriter(try shelf.state(), name: "cover")
            // The same picture is certain for these facts, too.
            let facts = AlbumQuery(artist: "A", title: "Low Tide")
            let result = await writer.write(large, to: target, of: "1", titles: [], facts: facts)
            guard case .exists = result else { throw Unexpected(result: result) }
            #expect(try shelf.state().written().map(\.facts) == [facts])
            _ = try written(await writer.write(small, to: target, of: "1", titles: [], facts: facts))
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            #expect(try shelf.state().written().map(\.facts) == [facts])
        }
    }

    @Test func `a music folder that is at another path by now has its covers there`() async throws {
        try await withShelf { shelf in
            let (music, moved) = (shelf.root + "/music", shelf.root + "/moved")
            try shelf.state().add(roots: [BytePath(music)])
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            _ = try written(try await shelf.write(small))
            try FileManager.default.moveItem(atPath: music, toPath: moved)
            try shelf.state().add(roots: [BytePath(moved)])
            let file = try #require(try shelf.state().written().first)
            #expect("\(file.path)" == moved + "/album/cover.jpg")
            var target = FillJob.Target(folder: file.folder, audioFolders: [file.folder], former: file)
            let writer = try CoverWriter(try shelf.state(), name: "cover")
            _ = try written(await writer.write(large, to: target, of: "1", titles: []))
            // And back, without a scan.
            try FileManager.default.moveItem(atPath: moved, toPath: music)
            #expect(try shelf.undo().map { "\($0.row.path)" } == [music + "/album/cover.jpg"])
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            target.former = nil
        }
    }

    @Test func `an upgrade to another type that was killed is completed by the next start`() async throws {
        try await withShelf { shelf in
            let former = try written(try await shelf.write(try shelf.cached(300)))
            // Named, and the smaller one is still there.
            let bytes = MusicPicture.jpeg(900, 900, number: 1).bytes
            try Data(bytes).write(to: URL(filePath: shelf.album + "/cover.png"))
            var next = Written(
                folder: former.folder, name: Array("cover.png".utf8), digest: Digest(of: bytes), album: "1",
                run: former.run + 1)
            (next.state, next.replaced) = (.begun, former.number)
            try shelf.state().save(next)
            _ = try CoverWriter(try shelf.state(), name: "cover")
            #expect(shelf.files == ["cover.png"])
            #expect(try shelf.state().written().map(\.path) == [next.path])
        }
    }

    @Test func `an upgrade that was killed before the file changed has not happened`() async throws {
        try await withShelf { shelf in
            let former = try written(try await shelf.write(try shelf.cached(300)))
            var next = former
            (next.number, next.digest, next.run) = (0, Digest(of: [1]), former.run + 1)
            (next.state, next.replaced) = (.begun, former.number)
            try shelf.state().save(next)
            #expect(try shelf.state().written() == [former], "one that is begun counts as not there")
            #expect(try shelf.undo().isEmpty && shelf.state().written() == [former])
            #expect(try shelf.undo().map(\.step) == [.remove])
            #expect(try shelf.state().written().isEmpty)
        }
    }

    @Test func `a cover that appears while one is written stays, and is no obstacle`() async throws {
        try await withShelf { shelf in
            try FileManager.default.createSymbolicLink(
                atPath: shelf.album + "/cover.jpg", withDestinationPath: "1.mp3")
            #expect(
                try await shelf.write(try shelf.cached(500)) == .exists(BytePath(shelf.album + "/cover.jpg")))
        }
    }

    @Test func `a cover beside linked music has the permissions of what the links lead to`() async throws {
        try await withShelf { shelf in
            try FileManager.default.moveItem(atPath: shelf.album + "/1.mp3", toPath: shelf.root + "/object")
            chmod(shelf.root + "/object", 0o444)
            try FileManager.default.createSymbolicLink(
                atPath: shelf.album + "/1.mp3", withDestinationPath: shelf.root + "/object")
            _ = try written(try await shelf.write(try shelf.cached(500)))
            let mode = try FileManager.default.attributesOfItem(atPath: shelf.album + "/cover.jpg")[.posixPermissions]
            #expect(mode as? Int == 0o644)
        }
    }

    @Test func `where a source had the cover is known until the library knows it`() async throws {
        try await withShelf { shelf in
            let cover = try shelf.cached(300)
            let writer = try CoverWriter(try shelf.state(), name: "cover")
            _ = try written(
                await writer.write(
                    cover, to: shelf.target, of: "1", titles: [], foundAt: "https://a.example/1"))
            // As after a kill.
            let next = try CoverWriter(try shelf.state(), name: "cover")
            #expect(try await next.unnotedCovers().urls == ["1": "https://a.example/1"])
            try await next.didNoteCovers()
            #expect(try await writer.unnotedCovers().urls.isEmpty)
            #expect(try shelf.state().written().count == 1)
        }
    }

    @Test func `a folder whose name is no UTF-8 gets its cover`() async throws {
        try await withShelf { shelf in
            let folder = BytePath(bytes: Array("\(shelf.root)/".utf8) + [0x63, 0xE9])
            try #require(folder.withCString { mkdir($0, 0o755) } == 0)
            let cover = try shelf.cached(300)
            let result = try await CoverWriter(try shelf.state(), name: "cover").write(
                cover, to: .init(folder: folder, audioFolders: [folder], former: nil), of: "1",
                titles: [])
            let file = try written(result)
            #expect(file.path.withCString { access($0, F_OK) } == 0)
            #expect(try shelf.state().written() == [file])
        }
    }

    @Test func `what a killed fill has left is removed, and what others write stays`() async throws {
        try await withShelf { shelf in
            try Data("half".utf8).write(to: URL(filePath: shelf.album + "/.sleeve-1-1.part"))
            try Data("other".utf8).write(to: URL(filePath: shelf.album + "/.other.part"))
            _ = try written(try await shelf.write(try shelf.cached(300)))
            #expect(shelf.files == [".other.part", "cover.jpg"])
        }
    }
}
