import AlbumLibrary
import Foundation
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

/// Fills that are taken back.
extension CoverWriterTests {
    @Test func `if the last fill cannot be taken back the one before it stays`() async throws {
        try await withShelf { shelf in
            let other = shelf.root + "/music/other"
            try MusicFile.write(other + "/1.mp3")
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let target = FillJob.Target(folder: BytePath(other), audioFolders: [BytePath(other)], former: nil)
            let first = try CoverWriter(try shelf.state(), name: "cover")
            let older = try written(
                await first.write(small.path, small.digest, to: target, of: "2", titles: ["Other"]))
            let former = try written(
                await first.write(small.path, small.digest, to: shelf.target, of: "1", titles: ["Low Tide"]))
            let file = try written(try await shelf.write(large, former: former))
            // The cover that it replaced is not cached any more.
            for _ in 0..<2 {
                let undone = try await CoverWriter(try shelf.state(), name: "cover").undo { _ in shelf.root + "/gone" }
                #expect(undone.map(\.step) == [.fail(reason: UndoStep.uncached)])
                #expect(try shelf.state().writtenFiles() == [file, older])
            }
        }
    }

    /// A picture of the tags, or one in the size of the fill, in the folders of two discs.
    @Test func `a replaced cover that is in no cache is kept until it is put back`() async throws {
        try await withShelf { shelf in
            let other = shelf.root + "/music/other"
            try MusicFile.write(other + "/1.mp3")
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let targets = [
                shelf.target, FillJob.Target(folder: BytePath(other), audioFolders: [BytePath(other)], former: nil),
            ]
            func write(_ cover: (path: String, digest: Digest), over formers: [WrittenFile?]) async throws
                -> [WrittenFile]
            {
                let writer = try CoverWriter(try shelf.state(), name: "cover")
                var files: [WrittenFile] = []
                for (target, former) in zip(targets, formers) {
                    var target = target
                    target.former = former
                    files.append(
                        try written(
                            await writer.write(
                                cover.path, cover.digest, to: target, of: "1", titles: ["Low Tide"], keepsFormer: true))
                    )
                }
                return files
            }
            let formers = try await write(small, over: [nil, nil])
            _ = try await write(large, over: formers)
            #expect(access(try shelf.state().keptCover(small.digest), F_OK) == 0)
            let undone = try await CoverWriter(try shelf.state(), name: "cover").undo { _ in shelf.root + "/gone" }
            #expect(
                undone.map(\.step)
                    == formers.map { .restore(.init(name: $0.name, digest: $0.digest, run: $0.run)) })
            #expect(try shelf.state().writtenFiles().map(\.digest) == [small.digest, small.digest])
            #expect(access(try shelf.state().keptCover(small.digest), F_OK) != 0)
        }
    }

    @Test func `undo remembers the files of a disk that is away, and takes back no older fill instead`() async throws {
        try await withShelf { shelf in
            let music = BytePath(shelf.root + "/music")
            try shelf.state().add(roots: [music])
            let file = try written(try await shelf.write(try shelf.cached(300)))
            try FileManager.default.moveItem(atPath: music.description, toPath: shelf.root + "/away")
            try FileManager.default.createDirectory(atPath: music.description, withIntermediateDirectories: false)
            let undone = try await CoverWriter(try shelf.state(), name: "cover").undo { _ in "" }
            #expect(undone.map(\.step) == [.away])
            #expect(try shelf.state().writtenFiles() == [file])
            // A folder that a person has removed is no disk that is away.
            try Data().write(to: URL(filePath: music.description + "/other"))
            let later = try await CoverWriter(try shelf.state(), name: "cover").undo { _ in "" }
            #expect(later.map(\.step) == [.stayAway])
        }
    }

    @Test func `fills are taken back in their order, whatever the clock said`() async throws {
        try await withShelf { shelf in
            let ahead = WrittenFile(
                folder: BytePath(shelf.root + "/gone"), name: Array("cover.jpg".utf8), digest: Digest(of: [1]),
                width: nil, height: nil, album: "2", run: WallClock.milliseconds() + 1_000_000)
            try shelf.state().save(ahead)
            let file = try written(try await shelf.write(try shelf.cached(300)))
            #expect(file.run > ahead.run)
            let undone = try await CoverWriter(try shelf.state(), name: "cover").undo { _ in "" }
            #expect(undone.map(\.file.path) == [file.path] && undone.map(\.step) == [.remove])
        }
    }

    @Test func `a restored file is one of the fill that wrote it`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let former = try written(try await shelf.write(small))
            _ = try written(try await shelf.write(large, former: former))
            let writer = try CoverWriter(try shelf.state(), name: "cover")
            _ = try await writer.undo { "\(shelf.root)/\($0)" }
            // But for the time of the copy.
            var restored = try #require(try shelf.state().writtenFiles().first)
            restored.modified = former.modified
            #expect(restored == former)
            #expect(try await writer.undo { "\(shelf.root)/\($0)" }.map(\.step) == [.remove])
        }
    }
}
