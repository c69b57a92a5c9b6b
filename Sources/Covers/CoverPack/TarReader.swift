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

    /// Visits the lines of the current file, as those of an entry log; nil for one that is damaged or unknown.
    mutating func readLines(_ visit: (EntryLog.Line?) throws -> Void) throws {
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

/// A block of 512 bytes that precedes a file in a tar archive (POSIX.1-1988, "ustar").
struct TarHeader: Hashable {
    enum Kind: Hashable {
        case file
        /// The bytes are the next file's name, which does not fit into its header (GNU tar).
        case longName
        /// The bytes are records about the next file (POSIX.1-2001, "pax").
        case records
        /// A directory, a link, or anything else.
        case other
    }

    static let size = 512
    /// The largest file, in bytes.
    static let maximumLength = 1 << 48

    var name: String
    /// The file's length in bytes. It is padded to whole blocks.
    var length: Int
    var kind: Kind

    init(_ name: String, length: Int) { (self.name, self.length, kind) = (name, length, .file) }

    /// Bytes that follow the file up to the next block.
    var padding: Int { -length & (Self.size - 1) }

    /// - Precondition: the name has at most 100 bytes.
    var bytes: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.size)
        func set(_ offset: Int, _ text: String) {
            for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
        }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        set(0, name)
        set(100, octal(0o644, 7))
        set(108, octal(0, 7))
        set(116, octal(0, 7))
        set(124, octal(length, 11))
        set(136, octal(0, 11))
        set(156, "0")
        set(257, "ustar\0" + "00")
        set(148, octal(Self.checksum(block), 6) + "\0 ")
        return block
    }

    /// Nil if the checksum does not match.
    init?(_ block: some Collection<UInt8>) {
        let block = Array(block)
        // Old programs add the bytes up as signed ones.
        guard block.count == Self.size, let stated = Self.number(block[148..<156]),
            [0, block.count { $0 >= 0x80 } << 8].contains(Self.checksum(block) - stated),
            let length = Self.number(block[124..<136]), (0...Self.maximumLength).contains(length)
        else { return nil }
        func text(_ range: Range<Int>) -> String { String(decoding: block[range].prefix { $0 != 0 }, as: UTF8.self) }
        let isUstar = block[257..<262].elementsEqual("ustar".utf8)
        let prefix = isUstar && block[262] == 0 ? text(345..<500) : ""
        name = prefix.isEmpty ? text(0..<100) : prefix + "/" + text(0..<100)
        // No bytes follow a link, a device or a directory, whatever its length.
        self.length = (UInt8(ascii: "1")...UInt8(ascii: "6")).contains(block[156]) ? 0 : length
        kind =
            switch block[156] {
            // A cover without its holes ("S") does not match its digest.
            case 0, UInt8(ascii: "0"), UInt8(ascii: "7"), UInt8(ascii: "S"): .file
            case UInt8(ascii: "L"): .longName
            case UInt8(ascii: "x"), UInt8(ascii: "X"): .records
            default: .other
            }
    }

    /// The records in the bytes of a header of kind `longName` or `records`: "LENGTH KEY=VALUE" and a line feed each.
    func records(in bytes: [UInt8]) -> [String: String] {
        func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        if kind == .longName { return ["path": text(bytes.prefix { $0 != 0 })] }
        var (records, rest) = ([String: String](), bytes[...])
        while let space = rest.firstIndex(of: UInt8(ascii: " ")), let length = Int(text(rest[..<space])),
            length > space - rest.startIndex, length <= rest.count
        {
            let end = rest.startIndex + length
            let parts = rest[(space + 1)..<end].dropLast().split(separator: UInt8(ascii: "="), maxSplits: 1)
            if parts.count == 2 { records[text(parts[0])] = text(parts[1]) }
            rest = rest[end...]
        }
        return records
    }

    /// Takes over what the records before the header say.
    mutating func apply(_ records: [String: String]) {
        name = records["GNU.sparse.name"] ?? records["path"] ?? name
        let size = records["size"].flatMap { Int($0) }
        if let size, kind == .file, (0...Self.maximumLength).contains(size) { length = size }
    }

    /// The sum of all bytes, with spaces in place of the checksum.
    private static func checksum(_ block: [UInt8]) -> Int {
        block.reduce(0) { $0 + Int($1) } - block[148..<156].reduce(0) { $0 + Int($1) } + 8 * Int(UInt8(ascii: " "))
    }

    /// Octal digits, none for 0; or, after a byte of 0x80, the number itself (GNU tar).
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if field.first == 0x80 {
            return field.dropFirst().reduce(0) { $0 > maximumLength ? $0 : $0 << 8 | Int($1) }
        }
        let text = String(decoding: field.prefix { $0 != 0 }, as: UTF8.self).filter { $0 != " " }
        return text.isEmpty ? 0 : Int(text, radix: 8)
    }
}
