package import Platform

/// A file that is opened once to be checked and copied, so that both see the same bytes.
package struct SourceFile: ~Copyable, Sendable {
    package let path: String
    let descriptor: Int32
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
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(offset + filled))
            }
            if read == 0 { break }
            if read > 0 { filled += read } else if errno != EINTR { throw SystemError("read", path: path) }
        }
        bytes.removeLast(count - filled)
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
