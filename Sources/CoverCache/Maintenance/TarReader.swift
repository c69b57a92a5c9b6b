import Platform

/// Reads the files of a tar archive in order. What is damaged is skipped.
struct TarReader {
    enum Item {
        case file(TarHeader)
        case damage(String)
    }

    /// Larger files are left out, in bytes: no cover is so large.
    private static let maximumFile = 256 << 20
    private static let maximumLine = 1 << 20

    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0
    private(set) var isAtEnd = false
    /// The rest of the current file and its padding, in bytes.
    private var (rest, padding) = (0, 0)
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
        try skip(rest + padding)
        (rest, padding) = (0, 0)
        var skipped = 0
        while try fill(TarHeader.size) {
            let block = buffer[start..<start + TarHeader.size]
            if let header = TarHeader(block), skipped == 0 || header.kind == .file {
                if skipped > 0 { return .damage("not a tar archive: \(skipped) bytes are skipped") }
                try skip(TarHeader.size)
                (rest, padding) = (header.length, header.padding)
                if header.kind == .file { return .file(header) }
                try skip(rest + padding)
                (rest, padding) = (0, 0)
                continue
            }
            if skipped == 0, block.allSatisfy({ $0 == 0 }) {
                hasEnd = true
                return nil
            }
            try skip(TarHeader.size)
            skipped += TarHeader.size
        }
        return skipped > 0 ? .damage("not a tar archive: \(skipped) bytes are skipped") : nil
    }

    /// The current file's bytes; nil if it is too large or the archive ends within it.
    mutating func readFile() throws(CacheError) -> [UInt8]? {
        guard rest <= Self.maximumFile, try fill(rest) else { return nil }
        defer {
            start += rest
            offset += rest
            rest = 0
        }
        return Array(buffer[start..<start + rest])
    }

    /// Visits the lines of the current file. Lines of more than 1 MiB are left out.
    mutating func readLines(_ visit: (ArraySlice<UInt8>) throws -> Void) throws {
        var line: [UInt8] = []
        while rest > 0 {
            guard try fill(1) else { break }
            let block = buffer[start..<min(buffer.count, start + rest)]
            if let end = block.firstIndex(of: UInt8(ascii: "\n")) {
                line += block[..<end]
                if line.count <= Self.maximumLine { try visit(line[...]) }
                line.removeAll(keepingCapacity: true)
                consume(end + 1 - start)
            } else {
                if line.count <= Self.maximumLine { line += block }
                consume(block.count)
            }
        }
        if !line.isEmpty { try visit(line[...]) }
    }

    private mutating func consume(_ count: Int) {
        start += count
        offset += count
        rest -= count
    }

    private mutating func skip(_ count: Int) throws(CacheError) {
        var left = count
        while left > 0 {
            guard try fill(1) else { return }
            let part = min(left, buffer.count - start)
            start += part
            offset += part
            left -= part
        }
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
