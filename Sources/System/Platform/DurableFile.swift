#if os(Linux)
    import CFiles
#endif

/// Syncing files and directories. Some file systems of other machines, and some of FUSE, cannot: that is no failure, as nothing else would
/// make a file more durable there.
package enum DurableFile {
    /// Returns once the file's data would survive power loss; false, with `errno`, if it may not.
    package static func sync(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return fdatasync(descriptor) == 0 || isUnsupported(errno)
        #else
            return fcntl(descriptor, F_FULLFSYNC) == 0 || isUnsupported(errno)
        #endif
    }

    #if !os(Linux)
        /// As `sync`, for one of many files: data is durable once a file or directory that is synced after it is.
        package static func syncData(_ descriptor: Int32) -> Bool {
            fcntl(descriptor, F_BARRIERFSYNC) == 0 || isUnsupported(errno)
        }
    #endif

    /// Syncs a file's whole file system, names included, where the system can; else the file. False, with `errno`, if it fails.
    package static func syncFileSystem(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            if syncfs(descriptor) == 0 { return true }
            // A sandbox refuses calls that it does not know.
            guard isUnsupported(errno) || errno == EPERM else { return false }
            syncEverything()
            return true
        #else
            return sync(descriptor)
        #endif
    }

    /// Syncs a directory, so that the files created in it and removed from it stay so after power loss.
    /// - Throws: `SystemError`. A directory that this user may not read is left alone.
    package static func sync(directory path: String) throws(SystemError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            if errno == EACCES || errno == EPERM { return }
            throw SystemError("open", path: path)
        }
        defer { close(descriptor) }
        guard syncDirectory(descriptor) else { throw SystemError("sync", path: path) }
    }

    /// The same for an open directory; false, with `errno`, if the disk fails or is full. File systems that cannot sync directories say so in
    /// many ways.
    package static func syncDirectory(_ descriptor: Int32) -> Bool {
        fsync(descriptor) == 0 || ![EIO, ENOSPC, EDQUOT].contains(errno)
    }

    /// Whether the error of a sync says that the file system has none.
    package static func isUnsupported(_ error: Int32) -> Bool {
        [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS, ENOENT, ENOTTY].contains(error)
    }
}

/// sync(2), whose name is taken in `DurableFile`. Linux waits for the disks.
private func syncEverything() { sync() }
