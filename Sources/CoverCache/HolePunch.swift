import CLinux

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A stretch of a segment that holds nothing any more.
struct FreedRange: Sendable, Hashable {
    var segment: Int
    var offset: Int
    /// A multiple of the record alignment.
    var length: Int

    /// Neighbours made one: a hole costs a system call of some 70 µs whatever its length.
    static func merged(_ ranges: [FreedRange]) -> [FreedRange] {
        var merged: [FreedRange] = []
        for range in ranges.sorted(by: { ($0.segment, $0.offset) < ($1.segment, $1.offset) }) {
            if let last = merged.last, last.segment == range.segment, last.offset + last.length == range.offset {
                merged[merged.count - 1].length += range.length
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Gives the blocks back to the file system. False where it knows no holes; the bytes then stay until the segment goes.
    @discardableResult
    func punch(in directory: CacheDirectory) -> Bool {
        let descriptor = open(directory.segment(segment), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        #if os(Linux)
            return fallocate(descriptor, sleeve_punch_hole, off_t(offset), off_t(length)) == 0
        #else
            var hole = fpunchhole_t(fp_flags: 0, reserved: 0, fp_offset: off_t(offset), fp_length: off_t(length))
            return fcntl(descriptor, F_PUNCHHOLE, &hole) == 0
        #endif
    }
}
