package import Platform

#if os(Linux)
    import CFiles
#endif

/// A file that is opened once to be checked and copied, so that both see the same bytes.
package struct SourceFile: ~Copyable, Sendable {
    package let path: String
    package let descriptor: Int32
    package let status: stat

    /// Length in bytes.
    package var length: Int { Int(status.st_size) }

    /// - Throws: `SystemError` if it cannot be opened, or is not a regular file (`EINVAL`).
    package init(path: String) throws(SystemError) { try self.init(path: Array(path.utf8)) }

    package init(path: [UInt8]) throws(SystemError) {
        // Opening a FIFO would wait for its writer.
        let descriptor = FileName.withCString(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        try self.init(descriptor: descriptor, path: String(decoding: path, as: UTF8.self))
    }

    /// - Parameter descriptor: an open file, which `deinit` closes, or -1 with `errno`.
    init(descriptor: Int32, path: String) throws(SystemError) {
        guard descriptor >= 0 else { throw SystemError("open", path: path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let error = SystemError("read", path: path, number: status.st_mode == 0 ? errno : EINVAL)
            close(descriptor)
            throw error
        }
        (self.path, self.descriptor, self.status) = (path, descriptor, status)
    }

    deinit { close(descriptor) }

    /// The digest of the bytes.
    /// - Throws: `SystemError`.
    package func digest() throws(SystemError) -> Digest {
        var hasher = SHA256()
        try read { (bytes) throws(SystemError) in
            hasher.update(bytes)
            return true
        }
        return hasher.digest()
    }

    /// All bytes.
    /// - Throws: `SystemError`.
    package func contents() throws(SystemError) -> [UInt8] {
        var contents: [UInt8] = []
        contents.reserveCapacity(length)
        try read { (bytes) throws(SystemError) in
            contents += bytes
            return true
        }
        return contents
    }

    /// Bytes from anywhere in the file; fewer at its end.
    /// - Throws: `SystemError`.
    package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if read == 0 { return }
                if read > 0 { filled += read } else if errno != EINTR { return number = errno }
            }
        }
        if number != 0 { throw SystemError("read", path: path, number: number) }
        return bytes
    }

    /// Calls `body` with the bytes from the beginning, a piece at a time, until it returns false.
    /// - Throws: `SystemError`, or the error of `body`.
    func read(_ body: (UnsafeRawBufferPointer) throws(SystemError) -> Bool) throws(SystemError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError("read", path: path) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = readSome(buffer, from: descriptor)
            if count < 0 { throw SystemError("read", path: path) }
            if count == 0 { return }
            guard try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
        }
    }
}

/// Whether other programs write a file.
extension SourceFile {
    /// A file that changed within this time is left where nothing tells whether it is open, in seconds.
    private static let quietTime = 10

    /// Why the file must not be replaced now; nil if it may be.
    /// - Parameters:
    ///   - isSleeves: It has bytes that Sleeve wrote, so that its age tells nothing.
    ///   - clock: The status of a new file of the same file system, whose clock may be another machine's.
    func refusal(isSleeves: Bool, clock: () -> stat?) -> OwnFile.Refusal? {
        #if os(Linux)
            if FileSystem.isLocal(descriptor) {
                // Who opens the file now breaks the lease by a signal. By default SIGURG is ignored, and SIGIO ends the process.
                _ = fcntl(descriptor, sleeve_set_signal, SIGURG)
                for attempt in 1... {
                    if fcntl(descriptor, sleeve_set_lease, F_RDLCK) == 0 {
                        _ = fcntl(descriptor, sleeve_set_lease, F_UNLCK)
                        return nil
                    }
                    guard errno == EAGAIN else { break }
                    // A new process has the descriptors of its parent until it runs its program: half a second on a busy machine.
                    if attempt == 50 { return .openForWriting }
                    usleep(10_000)
                }
            }
        #endif
        guard !isSleeves, let now = clock()?.modificationTime.tv_sec else { return nil }
        return abs(now - status.modificationTime.tv_sec) < Self.quietTime ? .changedJustNow : nil
    }
}
