import Foundation
import Platform
import SQLite
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

    @Test(arguments: ["song.flac", ".bashrc", ".Trash-1000"])
    func `a directory with other files, or hidden ones, gets no cache tag: backups would leave them out`(name: String)
        throws
    {
        try withFolder { folder in
            try Bytes.write([1], to: "\(folder.root)/\(name)")
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

    /// In a process that gives up the rights of the superuser, who may write anywhere.
    @Test func `a directory that cannot be written is refused with the reason`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setgid(54_321) == 0 && setuid(54_321) == 0) }
            try withFolder { folder in
                try FileManager.default.createDirectory(
                    atPath: folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
                guard case .notWritable(folder.path, let reason) = CacheDirectoryTests().error(opening: folder.path)
                else {
                    Issue.record("not refused")
                    return
                }
                #expect(!reason.isEmpty)
            }
        }
    }

    // MARK: Formats

    @Test func `a cache of a newer format is refused and left as it is`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.checkpoint()
            // user_version: a big-endian number at offset 60 of an SQLite file.
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, 99])
            let index = try Bytes.of(folder.index)
            #expect(error(opening: folder.path) == .newerFormat(folder.path))
            #expect(try Bytes.of(folder.index) == index)
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, UInt8(IndexFile.version)])
            try folder.expect(pictures([1]))
        }
    }

    @Test func `a newer index keeps its log, too, whatever is in it`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.copied { copy in
                // As a killed process leaves it: the version is in the log alone.
                let connection = try Connection(folder.index)
                try connection.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99")
                for suffix in ["", "-wal"] {
                    try Bytes.write(try Bytes.of(folder.index + suffix), to: copy.index + suffix)
                }
                let files = try ["", "-wal"].map { try Bytes.of(copy.index + $0) }
                #expect(error(opening: copy.path) == .newerFormat(copy.path))
                #expect(throws: CacheError.newerFormat(copy.path)) { try copy.reader() }
                #expect(try ["", "-wal"].map { try Bytes.of(copy.index + $0) } == files)
            }
        }
    }

    @Test(arguments: [1, UInt8(IndexFile.version) - 1])
    func `an index of an earlier format is made again from the entry log`(version: UInt8) throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...3) }
            try folder.checkpoint()
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, version])
            try folder.expect(pictures(1...3))
        }
    }

    // MARK: Files of others

    /// What a cache has, with a file in place of each folder's content.
    static let names = [
        "covers/photograph.jpg", "covers/.photograph.jpg", "covers/ab/photograph.jpg", "sizes/300/ab/mine.jpg",
        "writing/novel.txt",
        "writing/4711.1", "index.sqlite3",
        "index.sqlite3-wal", "index.sqlite3.bad-1-1", "entries.jsonl", "writer.lock",
        "reserve",
        "refresh.lock",
    ]

    @Test(arguments: names) func `a directory in which others use the names of a cache is refused, and stays`(
        name: String
    ) throws {
        try withFolder { folder in
            let (file, letter) = ("\(folder.path)/\(name)", folder.path + "/letter.txt")
            try FileManager.default.createDirectory(
                atPath: FilePath.directory(of: file), withIntermediateDirectories: true)
            for path in [file, letter] { try Bytes.write(picture(1), to: path) }
            let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            let used = folder.path + "/" + name.prefix { $0 != "/" }
            #expect(error(opening: folder.path) == .foreign(used))
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
            #expect(try Bytes.of(file) == picture(1) && Bytes.of(letter) == picture(1))
        }
    }

    @Test func `the database of another program is no index, and its tag none of Sleeve's`() throws {
        try withFolder { folder in
            mkdir(folder.path, 0o700)
            try Bytes.write(
                Array("Signature: 8a477f597d28d172789f06886806bc55\n".utf8), to: folder.path + "/CACHEDIR.TAG")
            try folder.execute("CREATE TABLE mine(a); PRAGMA user_version = 4")
            let database = try Bytes.of(folder.index)
            #expect(error(opening: folder.path) == .foreign(folder.index))
            #expect(try Bytes.of(folder.index) == database)
        }
    }

    @Test(arguments: ["covers", "covers/lost+found", "covers/@eaDir", "writing", "writing/#recycle"])
    func `an empty folder of a cache's name is nobody's: it may be a mount point`(name: String) throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
            try folder.written { try $0.store(url(1), picture(1)) }
            #expect(try folder.contents() == pictures([1]))
        }
    }

    @Test(arguments: [[], ["CACHEDIR.TAG"], ["index.sqlite3"], ["entries.jsonl"], ["CACHEDIR.TAG", "entries.jsonl"]])
    func `the tag, the entry log or the index makes a directory a cache, whatever else is lost`(lost: [String]) throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...3) }
            if lost.contains("index.sqlite3") { try folder.deleteIndex() }
            for name in lost where name != "index.sqlite3" { try Bytes.remove("\(folder.path)/\(name)") }
            try folder.expect(pictures(1...3))
        }
    }

    @Test func `what systems and people put into a cache stays, and makes no opening sweep`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...3) }
            let place = FilePath.directory(of: folder.file(picture(1)))
            let names = ["lost+found", ".Trash-1000", ".stfolder", "@eaDir", "#recycle", "4711.1", "ab"]
            let folders = ["", "/covers", "/sizes", "/sizes/300", "/writing"].map { folder.path + $0 } + [place]
            let mine =
                folders.flatMap { folder in names.map { "\(folder)/\($0)/mine" } } + [folder.file(picture(9)) + "/mine"]
            for file in mine {
                try FileManager.default.createDirectory(
                    atPath: FilePath.directory(of: file), withIntermediateDirectories: true)
                try Bytes.write([1], to: file)
            }
            #expect(try !CacheDirectory(creating: folder.path).hasMarkers)
            try folder.written { writer in
                _ = try writer.repair()
                try writer.fill(4...5)
                try writer.evict(to: 0)
                try writer.fill(1...3)
            }
            for file in mine { #expect(Bytes.exists(file), "\(file)") }
            #expect(try !CacheDirectory(creating: folder.path).hasMarkers, "the next opening need not sweep")
            #expect(try folder.contents() == pictures(1...3))
            #expect(try folder.defects() == [])
        }
    }

    @Test func `several processes create a cache at the same time`() throws {
        for others in [[], ["letter.txt"]] {
            try withFolder { folder in
                mkdir(folder.path, 0o700)
                for name in others { try Bytes.write([1], to: "\(folder.path)/\(name)") }
                concurrently(4) { side in _ = try folder.written { try $0.store(url(side), picture(side)) } }
                try folder.expect(pictures(0..<4))
                #expect(Bytes.exists(folder.path + "/CACHEDIR.TAG") == others.isEmpty)
            }
        }
    }

    @Test func `a sweep leaves files that no cache has made`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let name = Digest(of: picture(1)).description
            let place = "\(folder.path)/covers/\(name.prefix(2))"
            let mine = [
                "\(place)/notes.txt", "\(place)/\(name).jpg", "\(place)/\(name).x.part",
                "\(folder.path)/covers/my/\(name)",
                "\(folder.path)/covers/\(name)", "\(folder.path)/writing/novel.txt", "\(folder.path)/writing/1.2.txt",
                folder.index + ".bad-novel", "\(folder.path)/sizes/300/\(name.prefix(2))/mine.jpg",
            ]
            try FileManager.default.createDirectory(
                atPath: FilePath.directory(of: mine[8]), withIntermediateDirectories: true)
            for file in mine + ["\(place)/\(name).4711.part", folder.path + "/writing/4711.1"] {
                try Bytes.write([1], to: file)
            }
            try folder.written { _ in }
            #expect(!Bytes.exists("\(place)/\(name).4711.part") && !Bytes.exists(folder.path + "/writing/4711.1"))
            try folder.deleteIndex()
            try Bytes.write(picture(1), to: folder.index)
            _ = try folder.written { try $0.repair() }
            for file in mine { #expect(Bytes.exists(file), "\(file)") }
            #expect(try folder.contents() == pictures([1]))
        }
    }

    // MARK: Links

    @Test(arguments: ["index.sqlite3", "entries.jsonl", "writer.lock", "writing", "reserve", "refresh.lock"])
    func `a file of the cache that is a symbolic link is refused, and its target stays as it is`(name: String) throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.checkpoint()
            let (file, target) = ("\(folder.path)/\(name)", folder.root + "/elsewhere")
            if Bytes.exists(file) { try Bytes.move(file, to: target) } else { try Bytes.write([1, 2, 3], to: target) }
            let before = try? Bytes.of(target)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: target)
            #expect(error(opening: folder.path) == .linked(file))
            #expect(throws: CacheError.linked(file)) { try folder.reader() }
            #expect((try? Bytes.of(target)) == before)
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
            (.notADirectory("/c"), "another directory"), (.notWritable("/c", reason: "denied"), "another directory"),
            (.networkFileSystem("/c", kind: "NFS"), "local disk"), (.newerFormat("/c"), "update"),
            (.linked("/c"), "link the whole"), (.noCovers("/c"), "put it back"),
            (.foreign("/c"), "an empty directory"), (.longMetadata, "header fields"),
            (.diskFull("/c"), "free some room"), (.busy("/c", seconds: 15), "try again"),
            (.largerThanCapacity(bytes: 70_000, capacity: 65_536), "raise the capacity"),
            (.file("/c", operation: "open", reason: "no such file"), "/c"), (.notAPack("/c"), "a tar file"),
            (.unorderedPack("/c"), "from a file"), (.corruptIndex("malformed"), "repair the cache"),
            (.index("disk I/O error"), "try again"),
        ] as [(CacheError, String)])
    func `every error message is one line that names the path and the remedy`(error: CacheError, part: String) {
        #expect("\(error)".contains(part))
        #expect(!"\(error)".contains("\n"))
    }
}
