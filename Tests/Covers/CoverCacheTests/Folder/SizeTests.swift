import Foundation
import Platform
import Testing

@testable import CoverCache

/// What covers in smaller sizes do to a cache.
struct SizeTests {
    private static let color: UInt32 = 0x8A5C3F

    private func size(_ body: [UInt8], _ side: Int = 300, bytes: Int = 5_000) -> SmallCover {
        SmallCover(
            digest: Digest(of: body), longestSide: side, jpeg: [0xFF, 0xD8] + picture(7, bytes: bytes),
            color: Self.color)
    }

    private func path(_ folder: CacheFolder, _ size: SmallCover) -> String {
        SizeFolder(path: folder.path + "/sizes").step(size.longestSide).path(of: size.digest)
    }

    @Test func `a size is kept beside its cover, counted, and read as it was`() throws {
        try withFolder { folder in
            let size = size(picture(1))
            try folder.written { writer in
                try writer.fill([1])
                let before = try writer.statistics()
                try writer.keep([size, self.size(picture(2))])
                let after = try writer.statistics()
                #expect(after.chargedBytes - before.chargedBytes == charge && after.sizeBytes == charge)
                #expect(after.diskBytes >= before.diskBytes + charge)
            }
            let reader = try folder.reader()
            #expect(try reader.size(size.digest, 300)?.bytes == size.bytes)
            #expect(try reader.size(size.digest, 600) != nil && reader.size(size.digest, 600)?.bytes == nil)
            #expect(try reader.size(Digest(of: picture(2)), 300) == nil)
            #expect(reader.path(of: size.digest, 300) == path(folder, size) && reader.path(of: size.digest, 600) == nil)
            let color = try reader.status(of: [url(1)])[0]?.color
            #expect(color == Self.color)
            #expect(try folder.defects() == [])
        }
    }

    @Test func `sizes go with their covers, and all of them where no cover may go`() throws {
        try withFolder { folder in
            let sizes = (1...3).map { size(picture($0)) }
            try folder.written { writer in
                for seed in 1...3 { try writer.fill([seed]) }
                try writer.keep(sizes)
                #expect(try writer.statistics().chargedBytes == 6 * charge)
                #expect(try writer.evict(to: 4 * charge) == EvictionSummary(covers: 1, bytes: 2 * charge))
                #expect(sizes.map { Bytes.exists(path(folder, $0)) } == [false, true, true])
                _ = try writer.pin([url(2), url(3)])
                #expect(try writer.evict(to: 3 * charge) == EvictionSummary(covers: 0, bytes: 2 * charge))
                #expect(sizes.map { Bytes.exists(path(folder, $0)) } == [false, false, false])
                #expect(try writer.statistics().sizeBytes == 0)
            }
            #expect(folder.fileNames == Set([2, 3].map { Digest(of: picture($0)).description }))
            #expect(folder.markers == [])
        }
    }

    @Test(arguments: [0, 1, 3, 5, 7, 8, 11, 20])
    func `a dry run evicts nothing, and counts what an eviction then evicts`(target: Int) throws {
        try withFolder { folder in
            try folder.written { writer in
                for seed in 1...8 { try writer.fill([seed]) }
                try writer.keep((1...4).map { size(picture($0), bytes: charge + 1_000) })
                _ = try writer.pin([url(1), url(6)])
                let before = try writer.statistics()
                let planned = try folder.reader().evictable(to: target * charge)
                #expect(try writer.statistics() == before && folder.fileNames.count == 8)
                #expect(try writer.evict(to: target * charge) == planned)
                #expect(planned.bytes > 0 || target == 20)
            }
        }
    }

    @Test func `a cover that is removed or evicted takes its sizes along`() throws {
        try withFolder { folder in
            let sizes = [size(picture(1)), size(picture(1), 150), size(picture(2))]
            try folder.written { writer in
                for seed in 1...2 { try writer.fill([seed]) }
                try writer.keep(sizes)
                _ = try writer.remove([url(1)], includingPinned: false)
                #expect(sizes.map { Bytes.exists(path(folder, $0)) } == [false, false, true])
                try writer.evict(to: 0)
                #expect(!Bytes.exists(path(folder, sizes[2])))
                #expect(try writer.statistics().chargedBytes == 0)
            }
        }
    }

    @Test func `a full cache keeps no size, and evicts no cover for one`() throws {
        try withFolder { folder in
            try folder.written(capacity: 20 * charge) { writer in
                var seed = 0
                while try writer.statistics().chargedBytes + charge <= writer.index.room {
                    seed += 1
                    try writer.fill([seed])
                }
                let covers = folder.fileNames.count
                try writer.keep([size(picture(1), bytes: 2 * charge)])
                let statistics = try writer.statistics()
                #expect(statistics.sizeBytes == 0 && statistics.blobs == covers && folder.fileNames.count == covers)
                #expect(try writer.statistics().chargedBytes <= writer.index.room)
                // What stands for the cover needs no room.
                #expect(try folder.reader().status(of: [url(1)])[0]?.color != nil)
            }
        }
    }

    @Test func `sizes take a sixteenth of the capacity, and those that are unused for longest make room for others`()
        throws
    {
        try withFolder { folder in
            let sizes = (1...7).map { size(picture($0)) }
            try folder.written(capacity: 100 * charge) { writer in
                for seed in 1...7 { try writer.fill([seed]) }
                try writer.keep(Array(sizes[..<6]))
                #expect(try writer.statistics().sizeBytes == 6 * charge)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date() + 3_600], ofItemAtPath: path(folder, sizes[0]))
                try writer.keep([sizes[6]])
                // Down to three quarters, so that it is rare.
                #expect(try writer.statistics().sizeBytes == 5 * charge)
                #expect(sizes.count { Bytes.exists(path(folder, $0)) } == 5)
                #expect(Bytes.exists(path(folder, sizes[0])) && Bytes.exists(path(folder, sizes[6])))
                #expect(folder.fileNames.count == 7)
            }
        }
    }

    @Test func `older sizes make room for new ones`() throws {
        try withFolder { folder in
            let sizes = (1...30).map { size(picture($0), bytes: 3 * charge) }
            try folder.written(capacity: 100 * charge) { writer in
                for seed in 1...30 { try writer.fill([seed]) }
                for size in sizes {
                    try writer.keep([size])
                    #expect(writer.index.state.charged <= writer.index.room)
                    #expect(writer.index.state.sizes <= writer.capacity / 16)
                    #expect(Bytes.exists(path(folder, size)))
                }
                #expect(!Bytes.exists(path(folder, sizes[0])) && folder.fileNames.count == 30)
            }
        }
    }

    @Test(arguments: [0, 10, 69, 75, 4_000].map { ($0, false) } + [0, 3, 70, 5_000].map { ($0, true) })
    func `a size with a changed byte, or that was cut off, is none, and verify names it`(
        _ offset: Int, isCut: Bool
    ) throws {
        try withFolder { folder in
            let size = size(picture(1))
            try folder.written { writer in
                try writer.fill([1])
                try writer.keep([size])
            }
            var bytes = size.bytes
            if isCut { bytes.removeSubrange(offset...) } else { bytes[offset] ^= 1 }
            try Bytes.write(bytes, to: path(folder, size))
            #expect(try folder.reader().size(size.digest, 300)?.bytes == nil)
            #expect(try folder.defects().map(\.location) == [path(folder, size)])
            try folder.written { writer in
                _ = try writer.repair()
                #expect(!Bytes.exists(path(folder, size)))
                try writer.keep([size])
                #expect(try writer.statistics().chargedBytes == 2 * charge)
            }
            #expect(try folder.reader().size(size.digest, 300)?.bytes == size.bytes)
        }
    }

    @Test func `a file of another cover's size, or of another size of the cover, is none`() throws {
        try withFolder { folder in
            let sizes = [size(picture(1)), size(picture(1), 150), size(picture(2))]
            try folder.written { writer in
                for seed in 1...2 { try writer.fill([seed]) }
                try writer.keep(sizes)
            }
            for other in sizes.dropFirst() {
                try Bytes.write(sizes[0].bytes, to: path(folder, other))
                #expect(try folder.reader().size(other.digest, other.longestSide)?.bytes == nil)
            }
            #expect(try folder.reader().size(sizes[0].digest, 300)?.bytes == sizes[0].bytes)
            #expect(try Set(folder.defects().map(\.location)) == Set(sizes.dropFirst().map { path(folder, $0) }))
        }
    }

    @Test(arguments: [true, false]) func `what a killed process left is counted or swept`(hasFolders: Bool) throws {
        try withFolder { folder in
            let (kept, garbage) = (size(picture(1)), size(picture(9)))
            try folder.written { try $0.fill([1]) }
            // Their disk may not be mounted.
            if !hasFolders { try Bytes.move(folder.path + "/covers", to: folder.root + "/covers") }
            try folder.abandoned { writer in
                for size in [kept, garbage] { _ = try writer.directory.sizes.write(size) }
                try Bytes.write([1, 2], to: path(folder, kept) + ".4711.part")
                writer.index.marker.leave()
            }
            try folder.written { writer in
                let bytes = try writer.statistics().sizeBytes
                #expect(bytes == charge)
                #expect(Bytes.exists(path(folder, kept)) && !Bytes.exists(path(folder, garbage)))
                #expect(!Bytes.exists(path(folder, kept) + ".4711.part"))
            }
            #expect(folder.markers == [])
        }
    }

    @Test func `a rebuilt index counts the sizes that are there`() throws {
        try withFolder { folder in
            let size = size(picture(1))
            try folder.written { writer in
                try writer.fill([1])
                try writer.keep([size])
            }
            try folder.deleteIndex()
            let bytes = try folder.written { try $0.statistics().sizeBytes }
            #expect(bytes == charge)
            #expect(try folder.reader().size(size.digest, 300)?.bytes == size.bytes)
        }
    }
}
