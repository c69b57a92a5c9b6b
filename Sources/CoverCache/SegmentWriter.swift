import Platform

/// The segment that this process appends to. `flock` holds it while it is open, so a segment that is not locked has no live
/// writer.
struct SegmentWriter {
    /// The longest segment, in bytes.
    static let maximumLength = 256 << 20

    let number: Int
    let file: SegmentFile
    /// The offset of the next group; a multiple of the alignment.
    var end: Int

    /// Takes over an existing segment. Returns nil if it has a live writer or does not exist.
    init?(takingOver number: Int, in directory: CacheDirectory) {
        self.init(number, directory.segment(number), open(directory.segment(number), O_RDWR | O_CLOEXEC))
    }

    /// Creates a segment. Returns nil if the number is in use; the caller tries the next one.
    init?(creating number: Int, in directory: CacheDirectory) throws(CacheError) {
        let path = directory.segment(number)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno != EEXIST { throw .last("create", path) }
        self.init(created: number, path, descriptor)
        try CacheDirectory.sync(directory.segments)
    }

    /// Locks a segment that was created empty. Returns nil if another process has taken it over before it was locked: what that
    /// process wrote has to be recovered first.
    init?(created number: Int, _ path: String, _ descriptor: Int32) {
        self.init(number, path, descriptor)
        guard end == 0 else { return nil }
    }

    /// Locks an open segment. Returns nil if it has a live writer or was removed.
    init?(_ number: Int, _ path: String, _ descriptor: Int32) {
        guard descriptor >= 0 else { return nil }
        file = SegmentFile(descriptor: descriptor, path: path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
        // Another process may have unlinked the file before it was locked. What is written to it now would be lost.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { return nil }
        self.number = number
        end = RecordHeader.charge(file.length)
    }

    /// Cuts off everything after the last intact record, which ends at `offset`.
    mutating func truncate(to offset: Int) {
        end = RecordHeader.charge(offset)
        file.truncate(to: end)
    }

    /// Unlinks the file while it is locked, so that no process can take it over in between.
    func remove() { unlink(file.path) }
}
