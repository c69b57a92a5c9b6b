import Foundation
import Synchronization
import Platform
import Testing

@testable import Files

@Suite struct NewFileTests {
    private func name(_ text: String) throws -> FileName { try #require(FileName(text)) }

    private func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    /// Places a copy of `source` in a folder.
    private func place(_ source: String, in folder: String, as name: String, replacing: Bool = false) throws {
        let file = try NewFile(in: try OpenFolder(path: folder))
        try file.copy(try SourceFile(path: source))
        try file.sync()
        try file.commit(as: try #require(FileName(name)), replacing: replacing)
    }

    @Test func `the name appears with the whole file, and until then there is only a hidden file`() throws {
        try withFolder { folder in
            try write("a cover", folder + "/source")
            let file = try NewFile(in: try OpenFolder(path: folder))
            try file.copy(try SourceFile(path: folder + "/source"))
            let before = try names(in: folder)
            #expect(before.count == 2 && before[0].hasPrefix(".sleeve-\(getpid())-") && before[0].hasSuffix(".part"))
            try file.commit(as: try name("cover.jpg"))
            #expect(try names(in: folder) == ["cover.jpg", "source"])
            #expect(text(of: folder + "/cover.jpg") == "a cover")
        }
    }

    @Test func `a file that is there is not replaced, unless the caller says that it is its own`() throws {
        try withFolder { folder in
            try write("new", folder + "/source")
            try write("a person's", folder + "/cover.jpg")
            let error = #expect(throws: SystemError.self) {
                try place(folder + "/source", in: folder, as: "cover.jpg")
            }
            #expect(error?.cause == .exists)
            #expect(text(of: folder + "/cover.jpg") == "a person's")
            try FileManager.default.createSymbolicLink(atPath: folder + "/link.jpg", withDestinationPath: "elsewhere")
            let dangling = #expect(throws: SystemError.self) {
                try place(folder + "/source", in: folder, as: "link.jpg")
            }
            #expect(dangling?.cause == .exists)
            #expect(try names(in: folder) == ["cover.jpg", "link.jpg", "source"], "no temporary file is left")
            try place(folder + "/source", in: folder, as: "cover.jpg", replacing: true)
            #expect(text(of: folder + "/cover.jpg") == "new")
        }
    }

    @Test func `folders and names that are no UTF-8 are written to`() throws {
        try withFolder { folder in
            try write("x", folder + "/source")
            let outer = try OpenFolder(path: folder)
            let odd = try #require(FileName([0xFF, 0x41, 0xFE]))
            // Some file systems take UTF-8 only.
            guard try !outer.names().isEmpty, (try? outer.makeFolder(odd)) == true else { return }
            let inner = try OpenFolder(path: Array(folder.utf8) + [UInt8(ascii: "/")] + odd.bytes)
            let file = try NewFile(in: inner)
            try file.copy(try SourceFile(path: folder + "/source"))
            try file.commit(as: odd)
            #expect(try outer.folder(odd).names() == [odd])
            #expect(try inner.status(of: odd)?.st_size == 1)
            try inner.remove(odd)
            #expect(outer.removeEmptyFolder(odd))
        }
    }

    @Test func `a name leads nowhere else`() {
        for text in ["", ".", "..", "a/b", "/", "a\0b"] { #expect(FileName(text) == nil) }
        for text in ["...", "..a", "a", ".a"] { #expect(FileName(text)?.description == text) }
    }

    @Test func `a folder in a folder is not reached through a symbolic link`() throws {
        try withFolder { folder in
            let outer = try OpenFolder(path: folder)
            #expect(try outer.makeFolder(try name("real")))
            #expect(try outer.makeFolder(try name("real")) == false)
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "real")
            _ = try outer.folder(try name("real"))
            let error = #expect(throws: SystemError.self) { _ = try outer.folder(try name("link")) }
            #expect(error?.cause == .notAFolder)
        }
    }

    @Test func `a sweep removes what a killed process left, and nothing that is being written`() throws {
        try withFolder { folder in
            try write("part", folder + "/.sleeve-1-1.part")
            try write("other", folder + "/.sleeve-notes")
            try write("cover", folder + "/cover.jpg")
            let opened = try OpenFolder(path: folder)
            let file = try NewFile(in: opened)
            #expect(opened.sweep() == 1)
            #expect(try names(in: folder).count == 3)
            try file.commit(as: try name("late"))
            #expect(try names(in: folder) == [".sleeve-notes", "cover.jpg", "late"])
        }
    }

    @Test func `a sweep at any moment takes no file that is being written`() throws {
        try withFolder { folder in
            let opened = try OpenFolder(path: folder)
            let isDone = Atomic(false)
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 {
                    while !isDone.load(ordering: .relaxed) { opened.sweep() }
                    return
                }
                defer { isDone.store(true, ordering: .relaxed) }
                for number in 0..<300 {
                    do {
                        try NewFile(in: opened).commit(as: try name("\(number)"))
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(try names(in: folder).count == 300)
        }
    }

    @Test func `mode and owner are those that are asked for`() throws {
        try withFolder { folder in
            let file = try NewFile(in: try OpenFolder(path: folder), mode: 0o600)
            #expect(try file.status().st_mode & 0o7777 == 0o600)
            #expect(file.setOwner(getuid(), getgid(), mode: 0o664))
            #expect(try file.status().st_mode & 0o7777 == 0o664)
            #expect(try file.status().st_uid == getuid())
        }
    }

    @Test func `the causes of failures are told apart`() throws {
        try withFolder { folder in
            try write("x", folder + "/source")
            let long = #expect(throws: SystemError.self) {
                try place(folder + "/source", in: folder, as: String(repeating: "n", count: 300))
            }
            #expect(long?.cause == .nameTooLong)
            let missing = #expect(throws: SystemError.self) { _ = try OpenFolder(path: folder + "/none") }
            #expect(missing?.cause == .missing)
            let file = #expect(throws: SystemError.self) { _ = try OpenFolder(path: folder + "/source") }
            #expect(file?.cause == .notAFolder)
            // Nobody writes there, not even the superuser.
            if let system = try? OpenFolder(path: "/proc/self") {
                #expect(throws: SystemError.self) { _ = try NewFile(in: system) }
            }
        }
    }

    @Test func `only regular files are sources, and a FIFO does not block`() throws {
        try withFolder { folder in
            mkfifo(folder + "/fifo", 0o600)
            for path in [folder + "/fifo", folder] {
                #expect(throws: SystemError.self) { _ = try SourceFile(path: path) }
            }
        }
    }

    @Test(arguments: ["", "the old bytes and more"])
    func `a file that has another length than when it was opened is not copied`(changed: String) throws {
        try withFolder { folder in
            try write("the old bytes", folder + "/source")
            let source = try SourceFile(path: folder + "/source")
            let descriptor = open(folder + "/source", O_WRONLY | O_TRUNC | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(Array(changed.utf8).withUnsafeBytes { writeAll($0, to: descriptor) })
            let file = try NewFile(in: try OpenFolder(path: folder))
            let error = #expect(throws: SystemError.self) { try file.copy(source) }
            #expect(error?.number == EIO)
        }
    }

    @Test func `the digest and the copy are of the file that was opened, whatever its path names meanwhile`() throws {
        try withFolder { folder in
            let path = folder + "/source"
            try write("old", path)
            let source = try SourceFile(path: path)
            try write("new", folder + "/other")
            rename(folder + "/other", path)
            #expect(try source.digest() == Digest(of: Array("old".utf8)))
            let file = try NewFile(in: try OpenFolder(path: folder))
            try file.copy(source)
            try NewFile.sync([file])
            try file.commit(as: try name("copy"))
            #expect(text(of: folder + "/copy") == "old")
            #expect(text(of: path) == "new")
        }
    }
}
