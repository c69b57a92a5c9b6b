import Foundation
import Platform
import Testing

@testable import Files

@Suite struct AtomicFileTests {
    @Test func `the old bytes stay until replace, parts are written in order, and no temporary file is left`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            try Data("old".utf8).write(to: URL(filePath: path))
            do {
                let file = try AtomicFile(replacing: path)
                for part in ["a", "", "bc"] { try file.append(Array(part.utf8)) }
                try file.sync()
                #expect(text(of: path) == "old")
                try file.replace()
            }
            #expect(text(of: path) == "abc")
            #expect(try names(in: folder) == ["file"])
        }
    }

    /// In a process that gives up the rights of the superuser, who may write everywhere.
    @Test func `a read-only file is left alone, as it is one deliberately`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setgid(54_321) == 0 && setuid(54_321) == 0) }
            try withFolder { folder in
                let path = folder + "/file"
                try Data("old".utf8).write(to: URL(filePath: path))
                chmod(path, 0o444)
                let error = #expect(throws: SystemError.self) { _ = try AtomicFile([], replacing: path) }
                #expect(error?.number == EACCES)
                #expect(try names(in: folder) == ["file"])
            }
        }
    }

    @Test func `a file that is not replaced stays as it is`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            for exists in [false, true] {
                if exists { try Data("old".utf8).write(to: URL(filePath: path)) }
                do {
                    let file = try AtomicFile(replacing: path)
                    try file.append(Array("new".utf8))
                    try file.sync()
                    #expect(try names(in: folder).contains { $0.hasSuffix(".part") })
                }
                #expect(try names(in: folder) == (exists ? ["file"] : []))
            }
            #expect(text(of: path) == "old")
        }
    }

    @Test func `what lies under the name of the temporary file is neither opened nor replaced`() throws {
        try withFolder { folder in
            let (path, other) = (folder + "/file", folder + "/other")
            try Data("mine".utf8).write(to: URL(filePath: other))
            let number = try #require(Int("\(NewFile.temporaryName())".split { !$0.isNumber }.last ?? ""))
            for next in number..<(number + 100) {
                let link = "\(folder)/.sleeve-\(getpid())-\(next).part"
                try FileManager.default.createSymbolicLink(
                    atPath: link, withDestinationPath: next % 2 == 0 ? other : path)
            }
            let planted = try names(in: folder).count
            let file = try AtomicFile(Array("new".utf8), replacing: path)
            try file.replace()
            #expect(text(of: path) == "new" && text(of: other) == "mine")
            #expect(try names(in: folder).count == planted + 1)
        }
    }

    @Test func `the file of a killed process is removed where that is asked for`() throws {
        try withFolder { folder in
            let leftover = folder + "/.sleeve-1-1.part"
            for sweeps in [false, true] {
                try Data("half".utf8).write(to: URL(filePath: leftover))
                let file = try AtomicFile(Array("new".utf8), replacing: folder + "/file", sweeps: sweeps)
                try file.replace()
                #expect(try names(in: folder) == (sweeps ? ["file"] : [".sleeve-1-1.part", "file"]))
            }
        }
    }

    @Test func `the permissions of the file stay, and a new one gets those that are asked for`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            func mode() throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            let new = try AtomicFile(replacing: path, mode: 0o600)
            try new.replace()
            #expect(try mode() == 0o600)
            chmod(path, 0o664)
            let next = try AtomicFile(Array("x".utf8), replacing: path)
            try next.replace()
            #expect(try mode() == 0o664)
        }
    }

    #if os(Linux)
        @Test func `a file that had no access control list gets none from its folder`() throws {
            // setxattr(2) and getxattr(2), which Glibc's module lacks.
            typealias Call =
                @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int, CInt) -> CInt
            func call(_ name: String) -> Call { unsafeBitCast(dlsym(nil, name), to: Call.self) }
            try withFolder { folder in
                let path = folder + "/file"
                try Data("old".utf8).write(to: URL(filePath: path))
                // The kernel's form of acl(5): a tag, permissions and an id each for the owner, a user, the group, the mask and all others.
                var list: [UInt8] = [2, 0, 0, 0]
                for (tag, mode, id) in [(1, 7, 255), (2, 7, 57), (4, 5, 255), (16, 7, 255), (32, 5, 255)]
                    as [(UInt8, UInt8, UInt8)]
                {
                    list += [tag, 0, mode, 0, id, id, id, id]
                }
                // For new files. Some file systems have no lists.
                if call("setxattr")(folder, "system.posix_acl_default", &list, list.count, 0) != 0 { return }
                func hasList(_ path: String) -> Bool {
                    call("getxattr")(path, "system.posix_acl_access", nil, 0, 0) > 0
                }
                try Data("new".utf8).write(to: URL(filePath: folder + "/other"))
                #expect(hasList(folder + "/other"))
                let file = try AtomicFile(Array("new".utf8), replacing: path)
                try file.replace()
                #expect(text(of: path) == "new" && !hasList(path))
            }
        }
    #endif

    @Test(arguments: [true, false]) func `a symbolic link stays a link, and its target is replaced`(exists: Bool) throws
    {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/real", withIntermediateDirectories: true)
            if exists { try Data("old".utf8).write(to: URL(filePath: folder + "/real/file")) }
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "real/file")
            let file = try AtomicFile(Array("new".utf8), replacing: folder + "/link")
            try file.replace()
            #expect(text(of: folder + "/real/file") == "new")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "real/file")
        }
    }

    @Test func `a file that another program saves meanwhile stays, if it is looked at`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            for exists in [false, true] {
                try? FileManager.default.removeItem(atPath: path)
                if exists { try Data("old".utf8).write(to: URL(filePath: path)) }
                let file = try AtomicFile(Array("new".utf8), replacing: path, looks: true)
                try Data("mine".utf8).write(to: URL(filePath: folder + "/other"))
                rename(folder + "/other", path)
                let error = #expect(throws: SystemError.self) { try file.replace() }
                #expect(error?.number == ESTALE)
                #expect(text(of: path) == "mine")
                let next = try AtomicFile(Array("new".utf8), replacing: path, looks: true)
                try next.replace()
                #expect(text(of: path) == "new")
            }
            #expect(try names(in: folder) == ["file"])
        }
    }

    @Test func `a folder that is missing is an error that names the file`() throws {
        try withFolder { folder in
            let path = folder + "/none/file"
            let error = #expect(throws: SystemError.self) { _ = try AtomicFile([], replacing: path) }
            #expect(error.map { "\($0)".contains(path) } == true)
        }
    }

    @Test func `a file is overwritten in place whether it grows or shrinks`() throws {
        try withFolder { folder in
            let file = folder + "/file"
            try Data("0123456789".utf8).write(to: URL(filePath: file))
            for bytes in ["abc", "", "abcdefghijklmnop", "x"] {
                try AtomicFile.overwrite(file, with: Array(bytes.utf8))
                #expect(text(of: file) == bytes)
            }
            #expect(throws: SystemError.self) { try AtomicFile.overwrite(file + "/none", with: []) }
        }
    }
}
