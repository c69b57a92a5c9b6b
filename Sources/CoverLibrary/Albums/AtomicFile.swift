#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is replaced atomically: readers find the old bytes or the new ones, also after power loss.
struct AtomicFile: ~Copyable {
    /// The file to replace. A symbolic link is followed and stays a link.
    let path: String
    private let beside: String
    private var isInPlace = false

    /// Writes and syncs the new bytes in a file beside `path`.
    /// - Parameter isAlone: the caller holds a lock, so that one name suffices, and a killed process's partial file is reused.
    /// - Throws: `LibraryError`; nothing has changed then.
    init(_ bytes: [UInt8], toReplace path: String, isAlone: Bool = false) throws {
        self.path = Self.target(path)
        beside = isAlone ? "\(self.path).part" : "\(self.path).\(getpid()).part"
        var status = stat()
        let isThere = stat(self.path, &status) == 0
        // Renaming needs no permission to write the file itself: a read-only file is left alone deliberately.
        if isThere, access(self.path, W_OK) != 0 { throw Self.failure(path) }
        let mode = isThere ? status.st_mode & 0o7777 : 0o644
        let file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw Self.failure(path) }
        let isWritten = bytes.withUnsafeBytes { Self.write($0, file) } && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(beside)
            errno = reason
            throw Self.failure(path)
        }
    }

    deinit { if !isInPlace { unlink(beside) } }

    /// Renames the new file to `path`.
    /// - Throws: `LibraryError`; the old file is still there then.
    mutating func replace() throws {
        guard rename(beside, path) == 0 else { throw Self.failure(path) }
        isInPlace = true
        let folder = open(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The target of a symbolic link; the path itself if it is none.
    static func target(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, _ file: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = systemWrite(file, bytes.baseAddress! + written, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            written += count
        }
        return true
    }

    private static func failure(_ path: String) -> LibraryError {
        LibraryError(message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(file, bytes, count) }
