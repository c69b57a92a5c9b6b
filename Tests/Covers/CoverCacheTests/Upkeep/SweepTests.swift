import Foundation
import Platform
import Testing

@testable import CoverCache

/// Files that no row names are garbage; those of living writers are not.
@Suite struct SweepTests {
    @Test func `the files of a dead writer are removed at the next opening, and its committed covers stay`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(2), picture(2))
                try #require(writer.seal()).sync()
                try writer.put(url(3), picture(3))
                try writer.put(url(4), picture(1))
            }
            #expect(folder.fileNames.count == 3 && folder.markers.count == 1)
            try folder.abandoned { _ in }
            #expect(folder.fileNames.count == 1 && folder.markers == [])
            try folder.expect(pictures([1]))
        }
    }

    @Test func `a half-written file of a dead writer is removed, also the one it was to be renamed from`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                try Bytes.truncate(folder.file(picture(1)), to: 10)
                try Bytes.write([1], to: folder.file(picture(1)) + ".4711.part")
            }
            try folder.expect([:])
        }
    }

    @Test func `the files of covers whose rows a dead writer has deleted are removed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.fill(1...20)
                let files = try (1...20).map { try Bytes.of(folder.file(picture($0))) }
                try writer.evict(to: 15 * charge)
                // As if it had been killed before it unlinked them.
                writer.index.marker.begin()
                for number in 1...20 { try Bytes.write(files[number - 1], to: folder.file(picture(number))) }
            }
            try folder.expect(pictures(6...20))
        }
    }

    @Test func `a file that cannot be unlinked leaves a marker, and a later writer removes it`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...2)
                let place = FilePath.directory(of: folder.file(picture(1)))
                // No system call gets through it.
                try Bytes.move(place, to: place + "-elsewhere")
                try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: place)
                try writer.evict(to: 0)
                #expect(folder.markers.count == 1)
                try Bytes.remove(place)
                try Bytes.move(place + "-elsewhere", to: place)
                #expect(Bytes.exists(folder.file(picture(1))))
            }
            try folder.expect([:])
        }
    }

    @Test func `without a marker nothing is swept: a file of unknown origin stays until there is a reason to look`()
        throws
    {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let name = Digest(of: picture(9)).description
            let path = "\(folder.path)/covers/\(name.prefix(2))"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Bytes.write(picture(9), to: "\(path)/\(name)")
            try Bytes.write([1], to: "\(folder.path)/covers/notes.txt")
            try folder.written { _ in }
            #expect(folder.fileNames.contains(name))
            _ = try folder.written { try $0.repair() }
            #expect(!folder.fileNames.contains(name))
            #expect(Bytes.exists("\(folder.path)/covers/notes.txt"))
            try Bytes.remove("\(folder.path)/covers/notes.txt")
            try folder.expect(pictures([1]))
        }
    }

    @Test func `the files of a living writer stay, whoever opens, verifies, repairs and closes meanwhile`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.put(url(1), picture(1))
                let group = try #require(writer.seal())
                // A dead writer gives a reason to sweep.
                _ = try folder.abandoned { try $0.put(url(2), picture(2)) }
                for _ in 1...2 { _ = try folder.written { try $0.repair() } }
                #expect(folder.fileNames.count == 2)
                try group.sync()
                #expect(try writer.commit([group]) == [.stored(Digest(of: picture(1)), deduplicated: false)])
                try writer.put(url(3), picture(3))
                writer.abandon(try #require(writer.seal()))
            }
            // The last to close has swept.
            #expect(folder.fileNames.count == 1)
            try folder.expect(pictures([1]))
        }
    }

    /// Sweeps in `body`, while it holds the lock that sweepers hold alone.
    private func sweeping(_ folder: CacheFolder, _ body: () throws -> Void) throws {
        let descriptor = open(folder.path + "/writing", O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try body()
    }

    private func sweepAll(_ folder: CacheFolder, _ writer: CacheWriter) throws {
        for name in try writer.covers.folders() {
            try writer.index.transaction { changes in
                for digest in try writer.covers.sweep(name) { try changes.removeFile(of: digest) }
            }
        }
    }

    @Test func `a cover that is put while another process sweeps keeps its bytes`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try folder.written { other in
                    try sweeping(folder) {
                        try writer.put(url(1), picture(1))
                        try sweepAll(folder, other)
                        #expect(folder.fileNames == [])
                        try writer.put(url(2), picture(1))
                        try writer.put(url(3), picture(3))
                    }
                    let group = try #require(writer.seal())
                    try group.sync()
                    #expect(try writer.commit([group]).allSatisfy { $0 != .lost })
                }
            }
            try folder.expect([url(1): picture(1), url(2): picture(1), url(3): picture(3)])
        }
    }

    @Test func `a sweep beside commits and evictions of other writers takes no cover`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            let isOver = Flag()
            concurrently(2) { side in
                defer { if side == 0 { isOver.set() } }
                if side == 0 {
                    try folder.written(capacity: 30 * charge) { writer in
                        for step in 0..<60 {
                            try writer.store(url(step), picture(step))
                            let bytes = try folder.reader().bytes(url(step))
                            #expect(bytes == picture(step))
                        }
                    }
                } else {
                    while !isOver.isSet {
                        try folder.written { writer in
                            writer.index.marker.leave()
                            try writer.sweep()
                        }
                    }
                }
            }
            #expect(try folder.contents().count == 30)
            #expect(try folder.defects() == [])
        }
    }
}
