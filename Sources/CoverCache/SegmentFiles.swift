#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Segments open for reading, by number, the descriptors kept: opening a file costs five times what reading a cover does.
struct SegmentFiles: ~Copyable {
    private static let mostOpen = 128
    private let directory: CacheDirectory
    private var descriptors: [Int: Int32] = [:]

    init(_ directory: CacheDirectory) { self.directory = directory }

    deinit { for descriptor in descriptors.values { close(descriptor) } }

    /// Nil when the segment is gone.
    mutating func descriptor(_ number: Int) -> Int32? {
        if let descriptor = descriptors[number] { return descriptor }
        let descriptor = open(directory.segment(number), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        if descriptors.count >= Self.mostOpen {
            for (_, old) in descriptors { close(old) }
            descriptors.removeAll(keepingCapacity: true)
        }
        descriptors[number] = descriptor
        return descriptor
    }

    /// To be called when a segment was unlinked.
    mutating func forget(_ number: Int) {
        if let descriptor = descriptors.removeValue(forKey: number) { close(descriptor) }
    }

    /// Reads `length` bytes at `offset`. Nil when they are not all there.
    mutating func read(_ number: Int, offset: Int, length: Int) -> [UInt8]? {
        guard let descriptor = descriptor(number) else { return nil }
        return Self.read(descriptor, offset: offset, length: length)
    }

    /// Nil at the end of the file. A disk that cannot be read must not be taken for a segment that ends there.
    static func readOrThrow(_ descriptor: Int32, offset: Int, length: Int) throws(CacheError) -> [UInt8]? {
        // Kept where the call fails: finding memory may set `errno` and succeed.
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
            throw .last("read", "a segment")
        }
        return bytes.count == length ? bytes : nil
    }

    /// Nil as well when the disk cannot be read.
    static func read(_ descriptor: Int32, offset: Int, length: Int) -> [UInt8]? {
        (try? readOrThrow(descriptor, offset: offset, length: length)) ?? nil
    }
}
