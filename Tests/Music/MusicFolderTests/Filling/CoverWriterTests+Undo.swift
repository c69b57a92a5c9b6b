import CoverSources
import AlbumLibrary
import Foundation
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

/// Fills that are taken back.
extension CoverWriterTests {
    /// Writes the cover of an album in another folder, as a fill of its own.
    private func writeOther(_ shelf: Shelf, _ side: Int, of album: String) async throws -> Written {
        let other = shelf.root + "/music/other"
        try MusicFile.write(other + "/1.mp3")
        let target = FillJob.Target(folder: BytePath(other), audioFolders: [BytePath(other)], former: nil)
        return try written(
            await CoverWriter(try shelf.state(), name: "cover").write(
                try shelf.cached(side), to: target, of: album, titles: ["Other"]))
    }

    @Test func `what cannot be taken back blocks nothing, and is tried first by the next undo`() async throws {
        try await withShelf { shelf in
            let other = shelf.root + "/music/other"
            try MusicFile.write(other + "/1.mp3")
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let target = FillJob.Target(folder: BytePath(other), audioFolders: [BytePath(other)], former: nil)
            let first = try CoverWriter(try shelf.state(), name: "cover")
            let older = try written(await first.write(small, to: target, of: "2", titles: ["Other"]))
            let former = try written(await first.write(small, to: shelf.target, of: "1", titles: ["Low Tide"]))
            let file = try written(try await shelf.write(large, former: former))
            // The cover that it replaced is not cached any more.
            let undone = try shelf.undo(cache: "/none")
            #expect(undone.map(\.step) == [.fail(reason: UndoStep.uncached)])
            let next = try shelf.undo(cache: "/none")
            #expect(next.map(\.row.path) == [former.path, older.path] && next.map(\.step) == [.wait, .remove])
            #expect(Digest(of: shelf.bytes("cover.jpg")) == large.digest)
            let last = try shelf.undo()
            #expect(last.map(\.row.number) == [file.number, former.number] && last.last?.step == .remove)
            #expect(try shelf.files.isEmpty && shelf.undo().isEmpty)
        }
    }

    @Test func `undo of a fill whose covers a person has removed takes back no fill before it`() async throws {
        try await withShelf { shelf in
            let older = try await writeOther(shelf, 300, of: "2")
            let file = try written(try await shelf.write(try shelf.cached(900)))
            unlink(shelf.album + "/cover.jpg")
            try shelf.state().set(file, .removed)
            #expect(try shelf.undo().map(\.step) == [.stayAway] && older.isThere)
            #expect(try shelf.state().removed().map(\.path) == [file.path])
            #expect(try shelf.undo().map(\.row.path) == [older.path])
        }
    }

    @Test func `what an undo took out of a place counts as removed by no person at the next undo`() async throws {
        try await withShelf { shelf in
            let cover = try shelf.cached(300)
            _ = try written(try await shelf.write(cover))
            unlink(shelf.album + "/cover.jpg")
            _ = try written(try await shelf.write(cover))
            #expect(try shelf.undo().map(\.step) == [.remove] && shelf.undo().map(\.step) == [.stayAway])
            #expect(try shelf.state().removed().isEmpty)
        }
    }

    @Test func `what undo has put back, and a person has removed since, stays removed at the next`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900))
            let former = try written(try await shelf.write(small))
            _ = try written(try await shelf.write(large, former: former))
            _ = try shelf.undo()
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            unlink(shelf.album + "/cover.jpg")
            #expect(try shelf.undo().map(\.step) == [.stayAway])
            #expect(try shelf.state().removed().map(\.digest) == [small.digest])
        }
    }

    @Test func `undo of a fill that was killed in its first file takes back no fill before it`() async throws {
        try await withShelf { shelf in
            let older = try await writeOther(shelf, 300, of: "2")
            var killed = older
            (killed.number, killed.folder, killed.album, killed.run) = (0, BytePath(shelf.album), "1", older.run + 1)
            killed.state = .begun
            try shelf.state().save(killed)
            #expect(try shelf.undo().isEmpty && older.isThere)
            #expect(try shelf.undo().map(\.row.path) == [older.path])
        }
    }

    @Test func `a cover that was refused since does not come back`() async throws {
        try await withShelf { shelf in
            let (first, second) = (try shelf.cached(300), try shelf.cached(600, number: 1))
            let former = try written(try await shelf.write(first))
            _ = try await shelf.write(second, former: former)
            try shelf.state().add([Decision(.refused, first.name, of: "1")])
            #expect(try shelf.undo().map(\.step) == [.remove])
            #expect(shelf.files.isEmpty)
        }
    }

    @Test func `three fills are taken back one by one`() async throws {
        try await withShelf { shelf in
            let covers = try [300, 600, 900].map { try shelf.cached($0, number: $0) }
            var former: Written?
            for cover in covers { former = try written(try await shelf.write(cover, former: former)) }
            for cover in [covers[1], covers[0]] {
                #expect(try shelf.undo().count == 1)
                #expect(Digest(of: shelf.bytes("cover.jpg")) == cover.digest)
            }
            #expect(try shelf.undo().map(\.step) == [.remove])
            #expect(try shelf.files.isEmpty && shelf.undo().isEmpty)
        }
    }

    @Test func `undo gives the folder that another album has by now no cover of the former one`() async throws {
        try await withShelf { shelf in
            let older = try await writeOther(shelf, 400, of: "3")
            let former = try written(try await shelf.write(try shelf.cached(300)))
            // The record of an album that is gone stays.
            let records = ["1", "2"].map { id in
                var record = AlbumRecord(id: id)
                record.places = [AlbumPlace()]
                record.places[0].folders = [former.folder]
                record.places[0].namesDigest = UInt64(Song.hash(of: Array((id == "2" ? "1.mp3" : "old.mp3").utf8)))
                return record
            }
            try shelf.state().save(records)
            _ = try written(try await shelf.write(try shelf.cached(900, number: 1), former: former, of: "2"))
            #expect(try shelf.undo().map(\.step) == [.remove])
            #expect(try shelf.files.isEmpty && shelf.undo().isEmpty)
            // The second undo was that of the former one's fill.
            #expect(try older.isThere && shelf.undo().map(\.row.path) == [older.path])
        }
    }

    @Test(arguments: ["music/renamed", "music/deep/er"])
    func `undo finds a cover whose folder was renamed, and leaves a person's copy`(_ place: String) async throws {
        try await withShelf { shelf in
            try shelf.state().add(roots: [BytePath(shelf.root + "/music")])
            _ = try written(try await shelf.write(try shelf.cached(300)))
            let (new, copy) = ("\(shelf.root)/\(place)", shelf.root + "/copy.jpg")
            try FileManager.default.copyItem(atPath: shelf.album + "/cover.jpg", toPath: copy)
            try FileManager.default.createDirectory(
                atPath: shelf.root + "/music/deep", withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: shelf.album, toPath: new)
            let undone = try shelf.undo()
            #expect(undone.map { "\($0.row.path)" } == [new + "/cover.jpg"] && undone.map(\.step) == [.remove])
            #expect(access(new + "/cover.jpg", F_OK) != 0 && access(copy, F_OK) == 0)
        }
    }

    @Test func `undo of a renamed folder's cover, of which another album has a copy, takes that beside its songs`()
        async throws
    {
        try await withShelf { shelf in
            try shelf.state().add(roots: [BytePath(shelf.root + "/music")])
            let file = try written(try await shelf.write(try shelf.cached(300)))
            var record = AlbumRecord(id: "1")
            record.places = [AlbumPlace()]
            (record.places[0].folders, record.places[0].coverFolders) = ([file.folder], [file.folder])
            record.places[0].namesDigest = UInt64(Song.hash(of: Array("1.mp3".utf8)))
            try shelf.state().save([record])
            let (new, copy) = (shelf.root + "/music/renamed", shelf.root + "/music/another")
            try FileManager.default.moveItem(atPath: shelf.album, toPath: new)
            try MusicFile.write(copy + "/2.mp3")
            try FileManager.default.copyItem(atPath: new + "/cover.jpg", toPath: copy + "/cover.jpg")
            #expect(try shelf.undo().map(\.step) == [.remove])
            #expect(access(new + "/cover.jpg", F_OK) != 0 && access(copy + "/cover.jpg", F_OK) == 0)
        }
    }

    @Test func `an undo that was killed after a cover was put back goes on`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let former = try written(try await shelf.write(small))
            _ = try written(try await shelf.write(large, former: former))
            try Data(contentsOf: URL(filePath: "\(small.path)")).write(to: URL(filePath: shelf.album + "/cover.jpg"))
            #expect(try shelf.undo().map(\.step) == [.restore(former)])
            #expect(Digest(of: shelf.bytes("cover.jpg")) == small.digest)
            #expect(try shelf.undo().map(\.step) == [.remove])
        }
    }

    @Test(arguments: [true, false])
    func `what an undo that was killed took out is taken back, and no person has removed it`(isTaken: Bool) async throws
    {
        try await withShelf { shelf in
            let file = try written(try await shelf.write(try shelf.cached(300)))
            let state = try shelf.state()
            try state.set(file, .leaving)
            if isTaken { unlink("\(file.path)") }
            try state.settleBegun()
            #expect(try state.written(number: file.number)?.state == (isTaken ? .undone : .there))
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
            func write(_ cover: FillPicture, over formers: [Written?]) async throws -> [Written] {
                let writer = try CoverWriter(try shelf.state(), name: "cover")
                var files: [Written] = []
                for (target, former) in zip(targets, formers) {
                    var target = target
                    target.former = former
                    files.append(
                        try written(
                            await writer.write(
                                cover, to: target, of: "1", titles: ["Low Tide"], keepsFormer: true)))
                }
                return files
            }
            let formers = try await write(small, over: [nil, nil])
            _ = try await write(large, over: formers)
            #expect(access(try shelf.state().keptCover(small.digest), F_OK) == 0)
            let undone = try shelf.undo(cache: "/none")
            #expect(undone.map(\.step) == formers.reversed().map { .restore($0) })
            #expect(try shelf.state().written().map(\.digest) == [small.digest, small.digest])
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
            let undone = try shelf.undo()
            #expect(undone.map(\.step) == [.away])
            #expect(try shelf.state().written().map(\.path) == [file.path])
            // A folder that a person has removed is no disk that is away.
            try Data().write(to: URL(filePath: music.description + "/other"))
            let later = try shelf.undo()
            #expect(later.map(\.step) == [.stayAway])
        }
    }

    @Test func `fills are taken back in their order, whatever the clock said`() async throws {
        try await withShelf { shelf in
            let ahead = Written(
                folder: BytePath(shelf.root + "/gone"), name: Array("cover.jpg".utf8), digest: Digest(of: [1]),
                width: nil, height: nil, album: "2", run: WallClock.milliseconds() + 1_000_000)
            try shelf.state().save(ahead)
            let file = try written(try await shelf.write(try shelf.cached(300)))
            #expect(file.run > ahead.run)
            let undone = try shelf.undo()
            #expect(undone.map(\.row.path) == [file.path] && undone.map(\.step) == [.remove])
        }
    }

    @Test func `a restored file is one of the fill that wrote it`() async throws {
        try await withShelf { shelf in
            let (small, large) = (try shelf.cached(300), try shelf.cached(900, number: 1))
            let former = try written(try await shelf.write(small))
            _ = try written(try await shelf.write(large, former: former))
            _ = try shelf.undo()
            // But for the time of the copy.
            var restored = try #require(try shelf.state().written().first)
            (restored.modified, restored.time) = (former.modified, former.time)
            #expect(restored == former)
            #expect(try shelf.undo().map(\.step) == [.remove])
        }
    }
}
