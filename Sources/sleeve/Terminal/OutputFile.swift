#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that a command writes because it was told to.
enum OutputFile {
    /// Replaces a file as a whole; a device, a pipe or a link stays what it is and is written through.
    static func write(_ bytes: [UInt8], to path: String) throws {
        var status = stat()
        let isThere = lstat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            return try write(bytes, into: path, O_WRONLY | O_CREAT | O_TRUNC, as: path)
        }
        // Beside it first, then renamed: the file is whole or as it was.
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

    /// Says now that `path` could not be written later. - Throws: an exit code.
    static func check(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            if status.st_mode & S_IFMT == S_IFDIR { errno = EISDIR } else if access(path, W_OK) == 0 { return }
            throw cannotWrite(path)
        }
        // Files are written beside it first.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw cannotWrite(path) }
    }

    /// Whether two paths lead to one file.
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
