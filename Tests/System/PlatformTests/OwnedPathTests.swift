import Foundation
import Testing

@testable import Platform

@Suite(.enabled(if: geteuid() == 0, "only the superuser gives files away")) struct OwnedPathTests {
    private static let owner: uid_t = 54_321

    private func owner(of path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test func `what the superuser creates in someone's folder is theirs, and what was there stays whose it was`()
        throws
    {
        try withFolder { path in
            chown(path, Self.owner, Self.owner)
            try Data().write(to: URL(filePath: path + "/linked"))
            link(path + "/linked", path + "/link")
            mkdir(path + "/system", 0o755)
            try Data().write(to: URL(filePath: path + "/system/shadow"))
            symlink("system/shadow", path + "/symbolic")
            for name in ["new", "linked", "symbolic"] {
                let file = OwnedPath.create("\(path)/\(name)", O_WRONLY)
                #expect(file >= 0)
                close(file)
            }
            try OwnedPath.makeFolders(path + "/a/b", mode: 0o755)
            #expect(try !OwnedPath.makeFolder(path + "/a"))
            for name in ["new", "a", "a/b"] { #expect(owner(of: "\(path)/\(name)") == Self.owner, "\(name)") }
            #expect(owner(of: path + "/linked") == 0, "it may be a link to any file of the superuser")
            #expect(owner(of: path + "/system/shadow") == 0, "so may a symbolic one")
        }
    }

    @Test func `what the superuser creates in its own folder stays its own`() throws {
        try withFolder { path in
            let file = OwnedPath.create(path + "/new", O_WRONLY)
            close(file)
            try OwnedPath.makeFolder(path + "/a")
            for name in ["new", "a"] { #expect(owner(of: "\(path)/\(name)") == 0, "\(name)") }
        }
    }

    @Test func `a file where a folder is needed is an error with its path`() throws {
        try withFolder { path in
            try Data().write(to: URL(filePath: path + "/file"))
            for below in ["", "/a", "/a/b"] {
                let error = #expect(throws: SystemError.self) { try OwnedPath.makeFolders(path + "/file" + below) }
                #expect(error?.number == ENOTDIR && error?.path == path + "/file")
            }
        }
    }
}
