import Foundation
import Platform
import Testing

@testable import CoverCache

@Suite struct CacheDirectoryTests {
    private func error(opening path: String) -> CacheError? {
        do {
            _ = try CacheWriter.open(path)
            return nil
        } catch {
            return CacheError(error)
        }
    }

    @Test func `missing parent directories are created, and the directory has a cache tag`() throws {
        try withFolder { folder in
            let path = folder.root + "/a/b/c"
            _ = try CacheWriter.open(path)
            #expect(try Bytes.text(path + "/CACHEDIR.TAG").hasPrefix("Signature: 8a477f597d28d172789f06886806bc55"))
            for name in ["index.sqlite3", "writer.lock", "covers"] { #expect(Bytes.exists("\(path)/\(name)")) }
        }
    }

    @Test func `a directory with other files gets no cache tag: backups would leave the files out`() throws {
        try withFolder { folder in
            try Bytes.write([1], to: folder.root + "/song.flac")
            for _ in 1...2 {
                _ = try CacheWriter.open(folder.root)
                #expect(Bytes.exists(folder.root + "/index.sqlite3") && !Bytes.exists(folder.root + "/CACHEDIR.TAG"))
            }
        }
    }

    @Test(arguments: ["", "/below"])
    func `a path that is or leads through a file is refused, and the file stays as it is`(below: String) throws {
        try withFolder { folder in
            try Bytes.write([1, 2, 3], to: folder.path)
            #expect(error(opening: folder.path + below) == .notADirectory(folder.path))
            #expect(try Bytes.of(folder.path) == [1, 2, 3])
        }
    }

    @Test(.enabled(if: getuid() != 0))
    func `a directory that cannot be written is refused with the reason`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
            guard case .notWritable(folder.path, let reason) = error(opening: folder.path) else {
                Issue.record("not refused")
                return
            }
            #expect(!reason.isEmpty)
        }
    }

    // MARK: Formats

    @Test(
        arguments: [(1, CacheError.oldFormat), (99, CacheError.newerFormat)]
            as [(UInt8, @Sendable (String) -> CacheError)])
    func `a cache of an older or newer format is refused and left as it is`(
        version: UInt8, expected: @Sendable (String) -> CacheError
    ) throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.checkpoint()
            // user_version: a big-endian number at offset 60 of an SQLite file.
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, version])
            let index = try Bytes.of(folder.index)
            #expect(error(opening: folder.path) == expected(folder.path))
            #expect(try Bytes.of(folder.index) == index)
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, UInt8(IndexFile.version)])
            try folder.expect(pictures([1]))
        }
    }

    @Test func `covers of others are refused, and stay`() throws {
        try withFolder { folder in
            let (cover, photograph) = (Digest(of: picture(1)).description, "\(folder.path)/covers/ab/photograph.jpg")
            let file = "\(folder.path)/covers/\(cover.prefix(2))/\(cover)"
            for name in [file, photograph] {
                try FileManager.default.createDirectory(
                    atPath: AtomicFile.directory(of: name), withIntermediateDirectories: true)
                try Bytes.write(picture(1), to: name)
            }
            #expect(error(opening: folder.path) == .foreignCovers(folder.path + "/covers"))
            try Bytes.write([1], to: folder.path + "/sleeve-tier")
            #expect(error(opening: folder.path) == .tier(folder.path))
            #expect(try Bytes.of(file) == picture(1) && Bytes.of(photograph) == picture(1))
        }
    }

    @Test func `a sweep leaves files that no cache has made`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let name = Digest(of: picture(1)).description
            let place = "\(folder.path)/covers/\(name.prefix(2))"
            for other in ["notes.txt", "\(name).4711.part"] { try Bytes.write([1], to: "\(place)/\(other)") }
            try Bytes.write([], to: folder.path + "/writing/4711.1")
            _ = try CacheWriter.open(folder.path)
            #expect(Bytes.exists(place + "/notes.txt") && !Bytes.exists("\(place)/\(name).4711.part"))
            try Bytes.remove(place + "/notes.txt")
            try folder.expect(pictures([1]))
        }
    }

    @Test func `a cache of the first format, with segments, is refused, and nothing is created in it`() throws {
        try withFolder { folder in
            for name in ["", "/segments"] {
                try FileManager.default.createDirectory(atPath: folder.path + name, withIntermediateDirectories: false)
            }
            try Bytes.write([1], to: folder.path + "/segments/0000000001.seg")
            #expect(error(opening: folder.path) == .oldFormat(folder.path))
            #expect(try CacheDirectory.names(in: folder.path) == ["segments"])
        }
    }

    // MARK: Links

    @Test func `an index that is a symbolic link is refused, and its target stays as it is`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.checkpoint()
            let target = folder.root + "/elsewhere.sqlite3"
            try Bytes.move(folder.index, to: target)
            let before = try Bytes.of(target)
            try FileManager.default.createSymbolicLink(atPath: folder.index, withDestinationPath: target)
            #expect(error(opening: folder.path) == .linkedIndex(folder.index))
            #expect(throws: CacheError.linkedIndex(folder.index)) { try folder.reader() }
            #expect(try Bytes.of(target) == before)
            try Bytes.remove(folder.index)
            try Bytes.move(target, to: folder.index)
            try folder.expect(pictures([1]))
        }
    }

    @Test func `a symbolic link to the cache, and one to its folder of covers, work`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let link = CacheFolder(root: folder.root + "/other")
            try FileManager.default.createDirectory(atPath: link.root, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: folder.path)
            try link.written { try $0.store(url(2), picture(2)) }
            #expect(try link.contents() == pictures(1...2))
            try Bytes.move(folder.path + "/covers", to: folder.root + "/covers")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/covers", withDestinationPath: folder.root + "/covers")
            try folder.written { try $0.store(url(3), picture(3)) }
            #expect(try folder.contents() == pictures(1...3))
            #expect(try folder.defects() == [])
        }
    }

    // MARK: Privacy

    @Test(arguments: [false, true])
    func `only the user may read a cache, whoever may read its directory`(exists: Bool) throws {
        try withFolder { folder in
            if exists {
                try FileManager.default.createDirectory(
                    atPath: folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            }
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                // One that is replaced by a rename.
                try Bytes.flip(folder.file(picture(1)), at: 9)
                try writer.store(url(2), picture(1))
                try writer.put(url(3), picture(3))
                _ = try LeaseTable(writer.directory)
                let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                #expect(names.count >= 11, "\(names)")
                for name in names + (exists ? [] : ["."]) {
                    var status = stat()
                    #expect(stat("\(folder.path)/\(name)", &status) == 0 && status.st_mode & 0o077 == 0, "\(name)")
                }
            }
        }
    }
}

@Suite struct CacheErrorTests {
    @Test(
        arguments: [
            (.notADirectory("/c"), "--cache"), (.notWritable("/c", reason: "denied"), "--cache"),
            (.networkFileSystem("/c", kind: "NFS"), "local disk"), (.newerFormat("/c"), "update"),
            (.oldFormat("/c"), "delete"), (.linkedIndex("/c"), "link the whole"), (.noCovers("/c"), "put it back"),
            (.tier("/c"), "--tier"), (.foreignCovers("/c"), "no cache"),
            (.diskFull("/c"), "free some room"), (.busy("/c", seconds: 15), "try again"),
            (.largerThanCapacity(bytes: 70_000, capacity: 65_536), "--capacity"),
            (.file("/c", operation: "open", reason: "no such file"), "/c"), (.notAPack("/c"), "sleeve pack"),
            (.unorderedPack("/c"), "from a file"), (.corruptIndex("malformed"), "verify --repair"),
            (.index("disk I/O error"), "try again"),
        ] as [(CacheError, String)])
    func `every error message is one line that names the path and the remedy`(error: CacheError, part: String) {
        #expect("\(error)".contains(part))
        #expect(!"\(error)".contains("\n"))
    }
}
