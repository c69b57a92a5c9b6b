import CLinux
import Platform

/// An open segment. The descriptor is closed when the last reference goes, so no read meets a closed or reused descriptor.
final class SegmentFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Takes ownership of `descriptor`.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens a segment for reading. Returns nil if it does not exist.
    /// - Throws: `CacheError` if it cannot be opened, which must not be taken for its absence.
    convenience init?(reading path: String) throws(CacheError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw .last("open", path)
        }
        self.init(descriptor: descriptor, path: path)
    }

    deinit { close(descriptor) }

    /// In bytes.
    var length: Int { Int(lseek(descriptor, 0, SEEK_END)) }

    // MARK: Reading

    /// Reads `length` bytes at `offset`. Returns nil if the file ends before.
    /// - Throws: `CacheError` if the disk cannot be read, which must not be taken for the end of the segment.
    func read(at offset: Int, length: Int) throws(CacheError) -> [UInt8]? {
        // A length from a damaged index would allocate as much.
        guard length <= self.length - offset else { return nil }
        // `errno` is saved at once: a later allocation that succeeds may still change it.
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            while filled < length {
                let count = pread(descriptor, buffer.baseAddress! + filled, length - filled, off_t(offset + filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                if count <= 0 { break }
                filled += count
            }
        }
        guard failure == 0 else {
            errno = failure
            throw .last("read", path)
        }
        return bytes.count == length ? bytes : nil
    }

    /// Whether the disk can read what there is of a range.
    func isReadable(at offset: Int, length: Int) -> Bool {
        do {
            _ = try read(at: offset, length: min(length, max(0, self.length - offset)))
            return true
        } catch {
            return false
        }
    }

    /// The next offset from `offset` on that holds data; `Int.max` if there is none. Returns `offset` if the file system does
    /// not report holes.
    func nextData(from offset: Int) -> Int {
        #if os(Linux)
            let data = lseek(descriptor, off_t(offset), sleeve_seek_data)
            return data >= 0 ? Int(data) : errno == ENXIO ? Int.max : offset
        #else
            return offset
        #endif
    }

    // MARK: Writing

    /// Writes `bytes` at `offset`. Returns once they would survive power loss.
    ///
    /// The write bypasses the page cache (`O_DIRECT`) if the file system supports it: otherwise a bulk load evicts everything else
    /// from memory and pays for a copy and kernel pages. `bytes` must be aligned and padded for that.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CacheError) {
        // Not set at opening: until its first write, a segment taken over is read through this descriptor, unaligned.
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
        guard DurableFile.sync(descriptor) else { throw .last("sync", path) }
    }

    /// Switches bypassing the page cache on or off. Returns false if nothing changed.
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

    func truncate(to length: Int) { ftruncate(descriptor, off_t(length)) }
}

/// Segments open for reading, by number. They stay open because opening a file takes five times as long as reading a cover.
struct SegmentFiles {
    private static let maximumOpen = 128
    private let directory: CacheDirectory
    private var files: [Int: SegmentFile] = [:]

    init(_ directory: CacheDirectory) { self.directory = directory }

    /// The segment, opened if necessary; nil if it does not exist.
    /// - Throws: `CacheError` if it cannot be opened.
    mutating func file(_ number: Int) throws(CacheError) -> SegmentFile? {
        if let file = files[number] { return file }
        let path = directory.segment(number)
        if files.count >= Self.maximumOpen { files.removeAll(keepingCapacity: true) }
        do {
            files[number] = try SegmentFile(reading: path)
        } catch {
            // The process may have no descriptor left: those of the other segments are given up.
            if files.isEmpty { throw error }
            files.removeAll()
            files[number] = try SegmentFile(reading: path)
        }
        return files[number]
    }

    /// Forgets an open segment that may have been unlinked.
    mutating func close(_ number: Int) { files[number] = nil }

    /// Reads `length` bytes at `offset`. Returns nil if the segment does not exist or ends before.
    /// - Throws: `CacheError` if it cannot be read.
    mutating func read(_ number: Int, offset: Int, length: Int) throws(CacheError) -> [UInt8]? {
        try file(number)?.read(at: offset, length: length)
    }
}
