import CLinux

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The segment this process appends to, held by `flock` as long as it is open: a segment nobody holds has no living writer.
// because: `end` is one thread's; another may only call `write`, which touches nothing but the descriptor.
final class SegmentWriter: @unchecked Sendable {
    /// A segment this long is closed and the next one begun, in bytes.
    static let fullLength = 256 << 20

    let number: Int
    private let path: String
    let descriptor: Int32
    /// Where the next group goes; a multiple of the alignment.
    var end: Int

    var isFull: Bool { end >= Self.fullLength }

    /// Takes an existing segment whose writer is gone. Nil when there is one, or the file is not there any more.
    init?(taking number: Int, in directory: CacheDirectory) {
        path = directory.segment(number)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.number = number
        self.descriptor = descriptor
        end = RecordHead.charge(Int(lseek(descriptor, 0, SEEK_END)))
    }

    /// Begins a new one.
    /// - Throws: `CacheError`; `EEXIST` comes as nil, for the caller to try the next number.
    init?(creating number: Int, in directory: CacheDirectory) throws(CacheError) {
        path = directory.segment(number)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor < 0 {
            if errno == EEXIST { return nil }
            throw .last("create", path)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.number = number
        self.descriptor = descriptor
        end = 0
        CacheDirectory.sync(directory.segments)
    }

    deinit { close(descriptor) }

    /// Moves the end to after the last whole record, when the file's tail is a dead writer's torn one.
    func resume(at offset: Int) {
        end = RecordHead.charge(offset)
        ftruncate(descriptor, off_t(end))
    }

    /// Writes `bytes` at `offset` and returns when they would survive power loss.
    ///
    /// Past the page cache where the file system allows it: a bulk load would push everything else out of memory, and
    /// costs a copy and a page of kernel memory for every block. `bytes` must be aligned and padded for that.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheError) {
        // Only now: until its first group a segment that was taken over is read through the same descriptor.
        setDirect(true)
        var written = 0
        while written < bytes.count {
            let count = pwrite(descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(offset + written))
            if count > 0 {
                written += count
            } else if errno == EINVAL, setDirect(false) {
                continue
            } else if errno != EINTR {
                throw .last("write", path)
            }
        }
        #if os(Linux)
            let code = fdatasync(descriptor)
        #else
            let code = fcntl(descriptor, F_FULLFSYNC)
        #endif
        if code != 0 { throw .last("sync", path) }
    }

    /// Whether the descriptor goes past the page cache from now on. False when nothing changed.
    @discardableResult
    private func setDirect(_ isDirect: Bool) -> Bool {
        #if os(Linux)
            let flags = fcntl(descriptor, F_GETFL)
            let wanted = isDirect ? flags | sleeve_direct : flags & ~sleeve_direct
            return flags != wanted && fcntl(descriptor, F_SETFL, wanted) == 0
        #else
            return fcntl(descriptor, F_NOCACHE, isDirect ? 1 : 0) == 0 && isDirect
        #endif
    }

    /// Removes the file while holding it, so that nobody takes it up in between.
    func unlink() { _ = removeFile(path) }
}

/// `unlink`, whose name the class has taken.
private func removeFile(_ path: String) -> Int32 { unlink(path) }
