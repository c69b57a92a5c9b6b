import CLinux
import Platform

/// A range of a segment that no index row refers to any more.
struct FreedRange: Sendable, Hashable {
    var segment: Int
    var offset: Int
    /// A multiple of the record alignment.
    var length: Int
    var end: Int { offset + length }

    /// Merges adjacent and overlapping ranges: punching a small hole takes 70 µs, punching several as one little more.
    static func merged(_ ranges: [FreedRange]) -> [FreedRange] {
        var merged: [FreedRange] = []
        for range in ranges.sorted(by: { ($0.segment, $0.offset) < ($1.segment, $1.offset) }) {
            if let last = merged.last, last.segment == range.segment, last.end >= range.offset {
                merged[merged.count - 1].length = max(last.end, range.end) - last.offset
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// While a hole is punched, ext4 blocks reads of the file: for 0.3 ms a MiB.
    private static let maximumHole = 2 << 20

    /// Returns the blocks to the file system by punching holes. If the file system does not support holes, the blocks are freed with
    /// the segment, and are overwritten: a rebuild must not find the record.
    /// - Returns: false if it should be tried again later.
    @discardableResult
    func punch(in directory: CacheDirectory) -> Bool {
        let descriptor = open(directory.segment(segment), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        for start in stride(from: offset, to: end, by: Self.maximumHole) {
            if Self.punchHole(descriptor, start, min(Self.maximumHole, end - start)) { continue }
            return Self.meansNoHoles(errno) && overwrite(descriptor)
        }
        return true
    }

    private func overwrite(_ descriptor: Int32) -> Bool {
        let zeros = [UInt8](repeating: 0, count: min(length, 1 << 20))
        var written = 0
        while written < length {
            let count = pwrite(descriptor, zeros, min(zeros.count, length - written), off_t(offset + written))
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            written += count
        }
        return true
    }

    /// Returns false, with `errno`, if it failed.
    static func punchHole(_ descriptor: Int32, _ offset: Int, _ length: Int) -> Bool {
        #if os(Linux)
            fallocate(descriptor, sleeve_punch_hole, off_t(offset), off_t(length)) == 0
        #else
            var hole = fpunchhole_t(fp_flags: 0, reserved: 0, fp_offset: off_t(offset), fp_length: off_t(length))
            return fcntl(descriptor, F_PUNCHHOLE, &hole) == 0
        #endif
    }

    static func meansNoHoles(_ error: Int32) -> Bool { [EOPNOTSUPP, ENOTSUP, ENOSYS, EINVAL].contains(error) }
}

/// Ranges to compare others with.
struct RangeSet {
    /// Disjoint, in ascending order.
    private let ranges: [FreedRange]

    init(_ ranges: [FreedRange]) { self.ranges = FreedRange.merged(ranges) }

    func overlaps(_ range: FreedRange) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            let other = ranges[middle]
            if (other.segment, other.end) <= (range.segment, range.offset) { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].segment == range.segment && ranges[low].offset < range.end
    }
}

/// Ranges that committed transactions have freed, until their blocks are given back.
///
/// The transaction that frees a range also adds it to the index's table `freed`. So what is rolled back is not freed, and what a
/// killed process had no time for is found at the next opening. Punching a hole twice is harmless: no offset is used again.
struct ReclaimableSpace {
    private(set) var ranges: [FreedRange] = []
    private var rows: [ClosedRange<Int64>] = []
    private var reclaimedRows: [ClosedRange<Int64>] = []

    /// Rows remain that the next transaction removes.
    var hasReclaimedRows: Bool { !reclaimedRows.isEmpty }

    mutating func add(_ ranges: [FreedRange], rows: ClosedRange<Int64>?) {
        self.ranges += ranges
        if let rows { self.rows.append(rows) }
    }

    /// The blocks of all ranges have been given back.
    mutating func didReclaim() {
        reclaimedRows += rows
        (ranges, rows) = ([], [])
    }

    /// The rows of ranges whose blocks have been given back.
    mutating func takeReclaimedRows() -> [ClosedRange<Int64>] {
        defer { reclaimedRows = [] }
        return reclaimedRows
    }
}
