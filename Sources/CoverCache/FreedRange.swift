import CLinux
import Platform

/// A range of a segment that no index row refers to any more.
struct FreedRange: Sendable, Hashable {
    var segment: Int
    var offset: Int
    /// A multiple of the record alignment.
    var length: Int
    var end: Int { offset + length }

    /// Merges adjacent ranges: punching a hole takes about 70 µs whatever its length.
    static func merged(_ ranges: [FreedRange]) -> [FreedRange] {
        var merged: [FreedRange] = []
        for range in ranges.sorted(by: { ($0.segment, $0.offset) < ($1.segment, $1.offset) }) {
            if let last = merged.last, last.segment == range.segment, last.end == range.offset {
                merged[merged.count - 1].length += range.length
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Returns the blocks to the file system by punching a hole. Returns false if the file system does not support that; the
    /// blocks are then freed with the segment.
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
