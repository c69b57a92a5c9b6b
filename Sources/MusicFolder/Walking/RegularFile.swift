import Platform

/// Reads files of a music folder: FIFOs and devices have the names of music, too.
enum RegularFile {
    /// Opens a regular file for reading.
    static func open(_ path: BytePath) throws(MusicProblem) -> (descriptor: Int32, status: FileStatus) {
        // A FIFO would block without O_NONBLOCK.
        let descriptor = path.withCString { Platform.open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw MusicProblem(path, SystemError("open").reason) }
        if let status = try? FileStatus(descriptor: descriptor), status.kind == .file { return (descriptor, status) }
        close(descriptor)
        throw MusicProblem(path, "is no regular file")
    }

    /// The bytes of a file, up to a length.
    static func contents(
        of path: BytePath, maximumLength: Int
    ) throws(MusicProblem) -> (bytes: [UInt8], isWhole: Bool) {
        let (descriptor, status) = try open(path)
        defer { close(descriptor) }
        // One byte more shows the end of a file that has not grown.
        let capacity = Int(min(max(0, status.size), Int64(maximumLength))) + 1
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            while count < capacity {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                let read = readSome(rest, from: descriptor)
                if read < 0 { failure = SystemError("read") }
                if read <= 0 { break }
                count += read
            }
        }
        if let failure { throw MusicProblem(path, failure.reason) }
        return (bytes, bytes.count < capacity)
    }
}
