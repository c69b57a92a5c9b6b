import Foundation
import Platform
import Synchronization
import Testing

@testable import CoverCache

@Suite struct VerificationTests {
    /// Three covers, and a fourth URL with the bytes of the first.
    private func withFour(_ body: (CacheFolder) throws -> Void) throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...3)
                try writer.store(url(4), picture(1))
            }
            try body(folder)
        }
    }

    private let all = pictures(1...3).merging([url(4): picture(1)]) { $1 }

    // MARK: verify

    @Test func `verifying an intact cache checks everything and finds no defect`() throws {
        try withFour { folder in
            try folder.written { writer in
                var seen: [Int] = []
                let report = try writer.verify { done, total in
                    seen.append(done)
                    #expect(total == 3)
                }
                #expect(report.defects == [])
                #expect(report.entries == 4 && report.covers == 3 && report.bytes == 15_000)
                #expect(seen == [1, 2, 3])
            }
        }
    }

    @Test(arguments: [true, false])
    func `a flipped bit and a missing file are found, with the URL and the path`(isGone: Bool) throws {
        try withFour { folder in
            let file = folder.file(picture(2))
            if isGone { try Bytes.remove(file) } else { try Bytes.flip(file, at: 2_500) }
            let defects = try folder.defects()
            #expect(defects.map(\.key) == [url(2)] && defects.map(\.location) == [file])
            #expect("\(defects[0])".contains(url(2)) && "\(defects[0])".contains(isGone ? "gone" : "do not match"))
        }
    }

    @Test func `what another process evicts or replaces during a verification is no defect`() throws {
        try withFour { folder in
            try folder.abandoned { writer in
                let report = try writer.verify { done, _ in
                    guard done == 1 else { return }
                    try? folder.written { other in
                        try other.evict(to: charge)
                        try other.store(url(5), picture(5))
                    }
                }
                #expect(report.covers == 3 && report.defects == [])
            }
        }
    }

    @Test func `a verification that is cancelled says so, and reads no further cover`() throws {
        try withFour { folder in
            try Bytes.flip(folder.file(picture(3)), at: 2_500)
            try folder.written { writer in
                var checked = 0
                let isCancelled = Mutex(false)
                let found = try folder.reader().verify(isCancelled: { isCancelled.withLock(\.self) }) { done, _ in
                    checked = done
                    if done == 2 { isCancelled.withLock { $0 = true } }
                }
                #expect(found.report.isCancelled && found.report.defects == [] && checked == 2)
                #expect(try writer.verify().defects.count == 1)
            }
        }
    }

    @Test func `a verification that is cancelled in the index ends within its rows`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...20) }
            var isLast = false
            let found = try folder.reader().verify(isCancelled: { isLast }) { isLast = $0 == $1 }
            #expect(found.report.isCancelled && found.report.covers == 20 && found.report.entries < 20)
        }
    }

    @Test func `a verification sees what is committed meanwhile, and stops no writer`() throws {
        try withFour { folder in
            try folder.written { writer in
                let found = try folder.reader().verify(isCancelled: { false }) { done, _ in
                    guard done == 1 else { return }
                    _ = try? writer.store(url(2), picture(9))
                    _ = try? writer.remove([url(3)], includingPinned: true)
                }
                #expect(found.report.defects == [] && found.report.entries == 3 && found.report.covers == 4)
            }
        }
    }

    // MARK: repair

    @Test func `what was mended since it was found stays, though it was found to be damaged`() throws {
        try withFour { folder in
            try folder.written { writer in
                let whole = try Bytes.of(folder.file(picture(2)))
                try Bytes.flip(folder.file(picture(2)), at: 2_500)
                try Bytes.flip(folder.file(picture(3)), at: 2_500)
                var found = try folder.reader().verify()
                try Bytes.write(whole, to: folder.file(picture(2)))
                while !found.isMended { try writer.mend(&found) }
                #expect(found.report.defects.count == 2 && found.report.dropped == 1)
            }
            try folder.expect(all.filter { $0.key != url(3) })
        }
    }

    @Test func `a repair of an intact cache changes nothing`() throws {
        try withFour { folder in
            try folder.checkpoint()
            let (index, log) = (try Bytes.of(folder.index), try Bytes.of(folder.log))
            try folder.written { writer in
                let report = try writer.repair()
                #expect(report.defects == [] && report.dropped == 0 && report.rebuiltEntries == nil)
            }
            let changed = zip(try Bytes.of(folder.index), index).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
            #expect(changed == [])
            #expect(try Bytes.of(folder.log) == log)
            #expect(Bytes.length(folder.index + "-wal") == 0)
            try folder.expect(all)
        }
    }

    @Test func `a repair drops damaged covers with all their entries; the others keep their times and order`() throws {
        try withFour { folder in
            try folder.written { writer in
                let entry = try #require(try folder.reader().entry(for: url(2)))
                _ = try writer.renew([Renewal(entry, validatedAt: 300, freshUntil: 400, fields: "a: b\n")])
            }
            let before = try #require(try folder.reader().entry(for: url(2)))
            try Bytes.flip(folder.file(picture(1)), at: 2_500)
            try Bytes.remove(folder.file(picture(3)))
            try folder.written { writer in
                let report = try writer.repair()
                #expect(report.defects.map(\.key) == [url(1), url(3)])
                #expect(report.dropped == 2 && report.rebuiltEntries == nil)
            }
            #expect(try folder.reader().entry(for: url(2)) == before)
            try folder.expect(pictures([2]))
        }
    }

    @Test func `a repair drops nothing while the folder of covers is elsewhere, nor does a look-up`() throws {
        try withFour { folder in
            let (covers, elsewhere) = (folder.path + "/covers", folder.root + "/elsewhere")
            try Bytes.move(covers, to: elsewhere)
            try folder.written { writer in
                let defects = try writer.verify().defects
                #expect(defects.count == 3)
                #expect(throws: CacheError.noCovers(covers)) { _ = try writer.repair() }
                #expect(throws: CacheError.noCovers(covers)) { try writer.dropDamaged(url(1)) }
            }
            try Bytes.remove(covers)
            try Bytes.move(elsewhere, to: covers)
            try folder.expect(all)
        }
    }

    enum Oddity: CaseIterable { case pipe, folder, fullFolder, loop }

    private func put(_ oddity: Oddity, at path: String) throws {
        try Bytes.remove(path)
        switch oddity {
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: #expect(mkdir(path, 0o700) == 0)
        case .fullFolder: try Bytes.write([1], to: path + "/mine")
        case .loop: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: Oddity.allCases)
    func `a pipe, a folder or a link in place of a cover hangs nothing, and costs that cover`(oddity: Oddity) throws {
        try withFour { folder in
            try put(oddity, at: folder.file(picture(1)))
            #expect(try folder.reader().isDamaged(url(1)))
            try folder.written { writer in
                #expect(try writer.verify().defects.map(\.key) == [url(1)])
                let results = try writer.store([1, 9].map { ImportedCover(metadata(url($0)), picture($0)) })
                if oddity == .fullFolder, case .failure(.unwritableCover(folder.file(picture(1)), _)) = results[0] {
                } else {
                    #expect((try? results[0].get()) != nil, "\(results)")
                }
                #expect((try? results[1].get()) != nil, "\(results)")
                _ = try writer.repair()
                #expect(try writer.verify().defects == [])
            }
            let expected = all.merging([url(9): picture(9)]) { $1 }
            let isLost = oddity == .fullFolder
            #expect(try folder.contents() == expected.filter { !isLost || $0.value != picture(1) })
        }
    }

    @Test(.timeLimit(.minutes(10))) func `pipes in place of a size and of the entry log hang nothing`() throws {
        try withFour { folder in
            let size = SizeFolder(path: folder.path + "/sizes").step(300).path(of: Digest(of: picture(1)))
            try FileManager.default.createDirectory(
                atPath: FilePath.directory(of: size), withIntermediateDirectories: true)
            #expect(mkfifo(size, 0o600) == 0)
            try Bytes.remove(folder.log)
            #expect(mkfifo(folder.log, 0o600) == 0)
            let reader = try folder.reader()
            #expect(try reader.contents() == all)
            #expect(try reader.size(Digest(of: picture(1)), 300)?.bytes == nil)
            try folder.abandoned { writer in
                _ = try writer.verify()
                #expect(throws: CacheError.self) { try writer.store(url(9), picture(9)) }
            }
        }
    }

    @Test func `a repair does not hold the lock while it reads covers`() throws {
        try withFour { folder in
            try Bytes.flip(folder.file(picture(1)), at: 2_500)
            try folder.written { writer in
                let lock = try FileLock(path: folder.path + "/writer.lock")
                var checked = 0
                let report = try writer.repair { _, _ in
                    checked += 1
                    #expect((try? lock.tryLock()) == true)
                    lock.unlock()
                    try? folder.written { _ = try $0.store(url(5), picture(5)) }
                }
                #expect(checked == 4 && report.dropped == 1, "it checks the new one, too")
            }
            try folder.expect(pictures([2, 3, 5]))
        }
    }

    @Test func `a cover that was downloaded again during a repair stays`() throws {
        try withFour { folder in
            try Bytes.flip(folder.file(picture(2)), at: 2_500)
            try folder.written { writer in
                let report = try writer.repair { done, _ in
                    if done == 3 { try? folder.written { _ = try $0.store(url(2), picture(2)) } }
                }
                #expect(report.defects.map(\.key) == [url(2)] && report.dropped == 0)
            }
            try folder.expect(all)
        }
    }

    @Test func `wrong counts are found and counted anew`() throws {
        try withFour { folder in
            try folder.execute("UPDATE state SET bytes = bytes + 1, pinnedCovers = 7")
            try folder.written { writer in
                let found = try writer.repair().defects
                #expect(found.map(\.problem) == ["the index's counts are wrong"])
                #expect(try writer.verify().defects == [])
            }
        }
    }

    @Test func `bytes under the wrong name are dropped`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let wrong = Digest(of: picture(2))
                _ = try picture(1).withUnsafeBytes { try writer.put(metadata(url(1)), body: $0, digest: wrong) }
                _ = try writer.commit()
                #expect(try folder.reader().isDamaged(url(1)))
                #expect(try writer.repair().dropped == 1)
            }
            try folder.expect([:])
        }
    }

    @Test func `a repair rebuilds an index that needs it, and says so`() throws {
        try withFour { folder in
            try folder.execute("DELETE FROM covers WHERE id = 1")
            try folder.abandoned { writer in
                let report = try writer.repair()
                #expect(report.rebuiltEntries == all.count && report.corruption != nil && report.defects.count == 1)
            }
            try folder.expect(all)
        }
    }
}
