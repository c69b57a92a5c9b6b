/// Replaces a file atomically: readers find the old bytes or the new ones, also after power loss.
package struct AtomicFile: ~Copyable {
    /// The file to replace. A symbolic link is followed and stays a link.
    package let path: String
    private let temporary: String
    private var isReplaced = false

    /// Writes and syncs the new bytes to a temporary file beside `path`. The deinitializer deletes it unless `replace` ran.
    /// - Parameter isLocked: The caller holds a lock, so one name suffices, and a killed process's temporary file is reused.
    /// - Throws: `SystemError`.
    package init(_ bytes: [UInt8], replacing path: String, isLocked: Bool = false) throws(SystemError) {
        self.path = Self.resolvingLinks(path)
        temporary = isLocked ? "\(self.path).part" : "\(self.path).\(getpid()).part"
        var status = stat()
        let exists = stat(self.path, &status) == 0
        // rename(2) needs no permission to write the file itself. A read-only file is left alone deliberately.
        if exists, access(self.path, W_OK) != 0 { throw SystemError("write", path: path) }
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw SystemError("write", path: path) }
        let isWritten =
            (!exists || fchmod(file, status.st_mode & 0o7777) == 0)
            && bytes.withUnsafeBytes { Self.write($0, file) } && fsync(file) == 0
        let error = SystemError("write", path: path)
        close(file)
        guard isWritten else {
            unlink(temporary)
            throw error
        }
    }

    deinit { if !isReplaced { unlink(temporary) } }

    /// Renames the temporary file to `path` and syncs the directory.
    /// - Throws: `SystemError`; the old file is still there then.
    package mutating func replace() throws(SystemError) {
        guard rename(temporary, path) == 0 else { throw SystemError("write", path: path) }
        isReplaced = true
        // The new file is in place, whether its name is durable or not.
        try? DurableFile.sync(directory: Self.directory(of: path))
    }

    /// The path of the directory that `path` lies in.
    package static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The path without symbolic links; `path` itself if it does not exist.
    package static func resolvingLinks(_ path: String) -> String {
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
}

// `write` is also the name of a member above.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(file, bytes, count) }
