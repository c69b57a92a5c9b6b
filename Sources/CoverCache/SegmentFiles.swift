/// Segments open for reading, by number. They stay open because opening a file takes five times as long as reading a cover.
struct SegmentFiles {
    private static let maximumOpen = 128
    private let directory: CacheDirectory
    private var files: [Int: SegmentFile] = [:]

    init(_ directory: CacheDirectory) { self.directory = directory }

    /// The segment, opened if necessary; nil if it does not exist.
    mutating func file(_ number: Int) -> SegmentFile? {
        if let file = files[number] { return file }
        guard let file = SegmentFile(reading: directory.segment(number)) else { return nil }
        if files.count >= Self.maximumOpen { files.removeAll(keepingCapacity: true) }
        files[number] = file
        return file
    }

    /// Forgets an open segment that may have been unlinked.
    mutating func close(_ number: Int) { files[number] = nil }

    /// Reads `length` bytes at `offset`. Returns nil if they cannot all be read.
    mutating func read(_ number: Int, offset: Int, length: Int) -> [UInt8]? {
        (try? file(number)?.read(at: offset, length: length)) ?? nil
    }
}
