/// Replaces a file atomically: readers find the old bytes or the new ones, also after power loss.
package struct AtomicFile: ~Copyable {
    /// The file to replace. A symbolic link is followed and stays a link.
    package let path: String
    private let temporary: String
    private var descriptor: Int32 = -1
    private var isReplaced = false

    /// Creates a temporary file beside `path` for the new bytes. The deinitializer deletes it unless `replace` ran.
    /// - Parameters:
    ///   - isLocked: The caller holds a lock, so one name suffices, and a killed process's temporary file is reused.
    ///   - mode: The permissions if there is no file yet.
    /// - Throws: `SystemError`.
    package init(replacing path: String, isLocked: Bool = false, mode: mode_t = 0o644) throws(SystemError) {
        self.path = Self.resolvingLinks(path)
        temporary = isLocked ? "\(self.path).part" : "\(self.path).\(getpid()).part"
        descriptor = try Self.create(temporary, beside: self.path, mode: mode)
    }

    /// Writes and syncs all new bytes to the temporary file.
    /// - Throws: `SystemError`.
    package init(_ bytes: [UInt8], replacing path: String, isLocked: Bool = false) throws(SystemError) {
        self.path = Self.resolvingLinks(path)
        temporary = isLocked ? "\(self.path).part" : "\(self.path).\(getpid()).part"
        let file = try Self.create(temporary, beside: self.path, mode: 0o644)
        descriptor = file
        guard bytes.withUnsafeBytes({ writeAll($0, to: file) }), fsync(file) == 0 else {
            let error = SystemError("write", path: path)
            unlink(temporary)
            throw error
        }
    }

    /// Creates the temporary file with the permissions of the file to replace.
    private static func create(
        _ temporary: String, beside path: String, mode: mode_t
    ) throws(SystemError) -> Int32 {
        var status = stat()
        let exists = stat(path, &status) == 0
        // rename(2) needs no permission to write the file itself. A read-only file is left alone deliberately.
        if exists, access(path, W_OK) != 0 { throw SystemError("write", path: path) }
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw SystemError("write", path: path) }
        if exists, fchmod(file, status.st_mode & 0o7777) != 0 {
            let error = SystemError("write", path: path)
            close(file)
            unlink(temporary)
            throw error
        }
        return file
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isReplaced { unlink(temporary) }
    }

    /// Writes the next of the new bytes.
    /// - Throws: `SystemError`.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        let file = descriptor
        guard bytes.withUnsafeBytes({ writeAll($0, to: file) }) else { throw SystemError("write", path: path) }
    }

    /// Returns once the new bytes would survive power loss.
    /// - Throws: `SystemError`.
    package func sync() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError("write", path: path) }
    }

    /// Renames the temporary file to `path` and syncs the directory. Call `sync` before, unless `init` was given all bytes.
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

    /// Overwrites the file, for one that rename(2) cannot replace, such as a file that is mounted into a container (EBUSY).
    ///
    /// It is not atomic: a crash may leave a mix of old and new bytes, so keep a copy of the old ones. A full disk changes
    /// nothing, because the bytes beyond the old end are written first.
    /// - Throws: `SystemError`.
    package static func overwrite(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError("write", path: path) }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size >= 0 else { throw SystemError("write", path: path) }
        let isWritten = bytes.withUnsafeBytes { bytes in
            writeAll(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(size)), to: file)
        }
        guard isWritten else {
            let error = SystemError("write", path: path)
            ftruncate(file, off_t(size))
            throw error
        }
        guard lseek(file, 0, SEEK_SET) == 0,
            bytes.withUnsafeBytes({ writeAll(UnsafeRawBufferPointer(rebasing: $0.prefix(size)), to: file) }),
            ftruncate(file, off_t(bytes.count)) == 0, fsync(file) == 0
        else { throw SystemError("write", path: path) }
    }

    /// The path without symbolic links; `path` itself if it does not exist. A link to a missing file leads to that file.
    package static func resolvingLinks(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return target(of: path) ?? path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The path that a symbolic link holds; nil if `path` is none.
    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
        }
        guard count > 0, count < buffer.count else { return nil }
        let target = String(decoding: buffer[..<count], as: UTF8.self)
        return target.hasPrefix("/") ? target : directory(of: path) + "/" + target
    }
}
