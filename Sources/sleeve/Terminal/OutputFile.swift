#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file named by an option or argument, for a command to write.
enum OutputFile {
    /// Replaces a file atomically. A device, a pipe or a link is written through and stays what it is.
    static func write(_ bytes: [UInt8], to path: String) throws {
        var status = stat()
        let isThere = lstat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            return try write(bytes, into: path, O_WRONLY | O_CREAT | O_TRUNC, as: path)
        }
        // Written beside it, then renamed: readers find the old file or the whole new one.
        let beside = "\(path).\(getpid()).part"
        do {
            try write(bytes, into: beside, O_WRONLY | O_CREAT | O_EXCL, as: path)
            if isThere { chmod(beside, status.st_mode & 0o7777) }
            guard rename(beside, path) == 0 else { throw cannotWrite(path) }
        } catch {
            unlink(beside)
            throw error
        }
    }

    /// Checks that `path` can be written. - Throws: an exit code, after an error message.
    static func check(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            if status.st_mode & S_IFMT == S_IFDIR { errno = EISDIR } else if access(path, W_OK) == 0 { return }
            throw cannotWrite(path)
        }
        // `write` creates a file beside it.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw cannotWrite(path) }
    }

    /// Whether two paths name the same file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(path, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func write(_ bytes: [UInt8], into path: String, _ flags: Int32, as name: String) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw cannotWrite(name) }
        defer { close(descriptor) }
        guard Terminal(descriptor: descriptor).write(bytes) else { throw cannotWrite(name) }
    }

    private static func cannotWrite(_ path: String) -> any Error {
        fail("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
