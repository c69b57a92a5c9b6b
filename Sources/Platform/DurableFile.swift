#if os(Linux)
    import CFiles
#endif

/// Syncing files and directories.
package enum DurableFile {
    /// Returns once the file's data would survive power loss; false, with `errno`, if it may not.
    package static func sync(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return fdatasync(descriptor) == 0
        #else
            return fcntl(descriptor, F_FULLFSYNC) == 0
        #endif
    }

    /// As `sync`, for one of many files: on macOS, data is durable once a file or directory that is synced after it is.
    package static func syncData(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return sync(descriptor)
        #else
            return fcntl(descriptor, F_BARRIERFSYNC) == 0
        #endif
    }

    /// Syncs a file's whole file system, names included, where the system can; else the file. False, with `errno`, if it fails.
    package static func syncFileSystem(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return syncfs(descriptor) == 0
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

    /// The same for an open directory; false, with `errno`, if it fails. Some file systems cannot sync directories.
    package static func syncDirectory(_ descriptor: Int32) -> Bool {
        fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
    }
}
