#if os(Linux)
    import Foundation
    import Testing

    @testable import Platform

    @Suite struct FileSystemTests {
        @Test(arguments: [
            ("fuse.sshfs", "me@nas:covers", true), ("fuse", "https://nas/dav", true), ("fuse.s3fs", "s3fs", true),
            ("fuse.rclone", "remote:covers", true), ("fuse.gvfsd-fuse", "gvfsd-fuse", true),
            ("fuseblk", "/dev/sda1", false), ("fuse.mergerfs", "disk1:disk2", false), ("fuse.gocryptfs", "/a:b", false),
        ])
        func `FUSE for another machine is told by its mount's type and source`(
            type: String, source: String, isElsewhere: Bool
        ) throws {
            let descriptor = open("/proc/self", O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            let mounts = try #require(FileManager.default.contents(atPath: "/proc/self/mountinfo"))
            let changed = String(decoding: mounts, as: UTF8.self)
                .replacing(#/ - proc [^ ]+ /#, with: " - \(type) \(source) ")
            let found = FileSystem.networkFUSE(descriptor, mounts: Data(changed.utf8))
            #expect(found == (isElsewhere ? type : nil))
        }

        @Test func `what is mounted here is this machine's`() throws {
            #expect(FileSystem.networkKind(of: "/proc/self") == nil)
            let descriptor = open("/proc/self", O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(FileSystem.networkFUSE(descriptor, mounts: nil) == nil)
            #expect(FileSystem.networkFUSE(descriptor, mounts: Data("a b c\n- - -\n".utf8)) == nil)
        }
    }
#endif
