import CoverCache
import Platform

/// Reads the files of a tar archive in order. What is damaged is skipped.
struct TarReader {
    enum Item {
        case file(TarHeader)
        case damage(String)
    }

    /// Larger files are left out, in bytes, as they are held in memory: no cover is so large.
    private static let maximumFile = 64 << 20
    /// Longer records about a file are left out, in bytes: no name is so long.
    private static let maximumRecords = 1 << 20

    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0
    private(set) var isAtEnd = false
    /// Offsets of the current file's end, and of the header that follows.
    private var (fileEnd, nextHeader) = (0, 0)
    /// Bytes consumed so far.
    private(set) var offset = 0
    /// Whether the archive's end was found: two empty blocks.
    private(set) var hasEnd = false

    init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

    /// Whether the first block is a header.
    mutating func isArchive() throws(CacheError) -> Bool {
        try fill(TarHeader.size) && TarHeader(buffer[start..<start + TarHeader.size]) != nil
    }

    /// - Throws: `CacheError` if the descriptor is a pipe's.
    mutating func rewind() throws(CacheError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last("read", path) }
        self = TarReader(descriptor: descriptor, path: path)
    }

    /// The next file; nil at the end.
    mutating func next() throws(CacheError) -> Item? {
        try skip(to: nextHeader)
        var skipped = 0
        // About the file that follows.
        var records: [String: String] = [:]
        while try fill(TarHeader.size) {
            let block = buffer[start..<start + TarHeader.size]
            if var header = TarHeader(block) {
                if skipped > 0 { return .damage("not a tar archive: \(skipped) bytes are skipped") }
                consume(TarHeader.size)
                let isAhead = header.kind == .longName || header.kind == .records
                if !isAhead { header.apply(records) }
                fileEnd = offset + header.length
                nextHeader = fileEnd + header.padding
                if header.kind == .file { return .file(header) }
                if !isAhead {
                    records = [:]
                } else if header.length <= Self.maximumRecords, let bytes = try readFile() {
                    records.merge(header.records(in: bytes)) { $1 }
                }
                try skip(to: nextHeader)
                continue
            }
            if skipped == 0, block.allSatisfy({ $0 == 0 }) {
                hasEnd = true
                return nil
            }
            consume(TarHeader.size)
            skipped += TarHeader.size
        }
        return skipped > 0 ? .damage("not a tar archive: \(skipped) bytes are skipped") : nil
    }

    /// The current file's bytes; nil if it is too large or the archive ends within it.
    mutating func readFile() throws(CacheError) -> [UInt8]? {
        let length = fileEnd - offset
        guard length <= Self.maximumFile, try fill(length) else { return nil }
        defer { consume(length) }
        return Array(buffer[start..<start + length])
    }

    /// Visits the lines of the current file, as those of an entry log.
    mutating func readLines(_ visit: (EntryLog.Line) throws -> Void) throws {
        try EntryLog.read(visit) {
            guard offset < fileEnd, try fill(1) else { return [] }
            let block = buffer[start..<min(buffer.count, start + fileEnd - offset)]
            consume(block.count)
            return block
        }
    }

    private mutating func consume(_ count: Int) {
        start += count
        offset += count
    }

    private mutating func skip(to end: Int) throws(CacheError) {
        while offset < end, try fill(1) { consume(min(end - offset, buffer.count - start)) }
    }

    /// Reads on until `count` bytes are buffered. Returns false if there are fewer.
    private mutating func fill(_ count: Int) throws(CacheError) -> Bool {
        while buffer.count - start < count, !isAtEnd {
            if start > 0 {
                buffer.removeSubrange(..<start)
                start = 0
            }
            var block = [UInt8](repeating: 0, count: max(256 << 10, min(count, 4 << 20)))
            let read = block.withUnsafeMutableBytes { readSome($0, from: descriptor) }
            guard read >= 0 else { throw .last("read", path) }
            isAtEnd = read == 0
            buffer += block[..<read]
        }
        return buffer.count - start >= count
    }
}
