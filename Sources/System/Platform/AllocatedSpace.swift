/// The disk space that files take, and that is left.
package enum AllocatedSpace {
    /// The length of a file, in bytes; 0 if it does not exist.
    package static func length(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Free space of a directory's file system for this user, in bytes; nil if the system does not say.
    package static func free(at directory: String) -> Int? {
        var space = statvfs()
        guard statvfs(directory, &space) == 0 else { return nil }
        // Some network and FUSE file systems report numbers whose product has more than 64 bits.
        let (bytes, overflows) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return overflows ? .max : Int(clamping: bytes)
    }

    /// Whether there is a file, which is no folder, pipe or device.
    package static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether a directory's file system may take another file. True if it does not say.
    package static func hasInodes(at directory: String) -> Bool {
        var space = statvfs()
        return statvfs(directory, &space) != 0 || space.f_files == 0 || space.f_favail > 0
    }

    /// In bytes; 0 if the file does not exist.
    package static func bytes(of path: String) -> Int {
        var status = stat()
        // Always in units of 512 bytes (stat(2)).
        return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }
}
