import Files
package import Platform
import SQLite

/// The log beside the index: a line for each stored entry, for people, and to rebuild a lost index from.
///
///     {"sleeve":"entries 1"}
///     {"url":"https://a.example/1.jpg","digest":"5fd9…","bytes":31415,"type":"image/jpeg","width":500,"height":500,
///      "stored":1764000000000,"validated":1764000300000,"fresh":1764003600000,"fields":"etag: \"1\"\n","seal":-42}
///     {"url":"https://a.example/1.jpg","pinned":true}
///     {"url":"https://a.example/1.jpg","removed":true}
///     {"capacity":10737418240}
///
/// An entry is one line; it is broken here. A `seal` is that of the index; lines of other programs need none. A later line of a URL
/// counts, whatever its time. Times are in milliseconds since 1970.
/// Lines of evicted covers stay until the log is rewritten: without the cover's file they have no effect.
///
/// It is appended with the writer's lock held: before the rows are committed, or after, if a line takes something away. It is synced when the cache is closed, and with the
/// next covers: power loss alone does not lose the index.
package struct EntryLog {
    package enum Line: Sendable {
        /// The first line: the name and the version of the format.
        case format(String)
        case stored(EntryLine)
        case removed(String)
        case pinned(String, Bool)
        /// In bytes.
        case capacity(Int)
    }

    /// What the log of every version begins with.
    static let start = #"{"sleeve":""#
    static let header = Line.format("entries 1").bytes
    /// No cover fits into less, in bytes.
    package static let minimumCapacity = 4 << 10
    private static let blockLength = 1 << 20
    private static let readLength = 64 << 10
    /// Longer lines are left out, in bytes: a file of one line must not fill the memory.
    private static let maximumLineLength = 1 << 20

    let path: String

    /// Appends lines, each with its line feed.
    /// - Throws: `CacheError`. The log may end with a part of them then, which the next lines leave alone.
    func append(_ lines: [UInt8]) throws(CacheError) {
        let descriptor = OwnedPath.create(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .last("open", path) }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        guard length >= 0 else { throw .last("write", path) }
        var bytes = length == 0 ? Self.header : []
        var last: UInt8 = UInt8(ascii: "\n")
        // A process was killed within a line.
        if length > 0, pread(descriptor, &last, 1, length - 1) == 1, last != UInt8(ascii: "\n") {
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += lines
        guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else {
            let error = CacheError.last("write", path)
            ftruncate(descriptor, length)
            throw error
        }
    }

    func sync() throws(CacheError) {
        let isSynced = try CoverFolder.withPath(path) { DurableFile.sync($0) }
        guard isSynced ?? true else { throw .last("sync", path) }
    }

    /// Replaces the log by lines that `write` passes on. Call it with the writer's lock held.
    func replace(_ write: ((Line) throws -> Void) throws -> Void) throws {
        let file = try AtomicFile(replacing: path, sweeps: true, mode: 0o600)
        var block = Self.header
        try write { line in
            line.append(to: &block)
            if block.count < Self.blockLength { return }
            try file.append(block)
            block.removeAll(keepingCapacity: true)
        }
        try file.append(block)
        try file.sync()
        try file.replace()
    }

    /// Visits every line in order. Lines that are damaged or unknown are left out.
    /// - Throws: `CacheError` if the log cannot be read, or the error of `visit`.
    func read(_ visit: (Line) throws -> Void) throws {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw CacheError.last("open", path) }
        defer { close(descriptor) }
        try Self.read({ if let line = $0 { try visit(line) } }) {
            var block = [UInt8](repeating: 0, count: Self.readLength)
            let count = block.withUnsafeMutableBytes { readSome($0, from: descriptor) }
            guard count >= 0 else { throw CacheError.last("read", path) }
            return block[..<count]
        }
    }

    /// The same for lines in blocks of bytes; nil for one that is damaged or unknown.
    /// - Parameter nextBlock: returns an empty one at the end.
    package static func read(_ visit: (Line?) throws -> Void, from nextBlock: () throws -> ArraySlice<UInt8>) throws {
        var line: [UInt8] = []
        func end() throws {
            if !line.isEmpty { try visit(line.count <= maximumLineLength ? Line(line) : nil) }
            line.removeAll(keepingCapacity: true)
        }
        while true {
            var block = try nextBlock()
            if block.isEmpty { return try end() }
            while let feed = block.firstIndex(of: UInt8(ascii: "\n")) {
                line += block[..<feed]
                try end()
                block = block[(feed + 1)...]
            }
            if line.count <= maximumLineLength { line += block }
        }
    }
}

extension EntryLog.Line {
    /// The line of a stored entry as another program may write it, too.
    private struct Values: Decodable {
        var sleeve: String?
        var url: String?
        var digest: String?
        var bytes: Int?
        var type: String?
        var width: Int?
        var height: Int?
        var stored: Int64?
        var validated: Int64?
        var fresh: Int64?
        var fields: String?
        var pinned: Bool?
        var removed: Bool?
        var capacity: Int?
        var seal: Int64?
    }

    /// Nil if it is of none of these kinds.
    init?(_ line: some Collection<UInt8>) {
        guard let values = try? JSONDecoder().decode(Values.self, from: Data(line)) else { return nil }
        if let format = values.sleeve {
            self = .format(format)
            return
        }
        if let capacity = values.capacity, capacity >= EntryLog.minimumCapacity {
            self = .capacity(capacity)
            return
        }
        guard let url = values.url, !url.isEmpty else { return nil }
        if let isPinned = values.pinned {
            self = .pinned(url, isPinned)
        } else if values.removed == true {
            self = .removed(url)
        } else if let digest = values.digest.flatMap({ Digest($0) }), let bytes = values.bytes, bytes >= 0,
            values.seal ?? EntryLine.seal(url, digest) == EntryLine.seal(url, digest)
        {
            func time(_ number: Int64?) -> Int64? { number.map { min(max($0, 0), 1 << 48) } }
            let metadata = EntryMetadata(
                key: url, mediaType: values.type ?? "application/octet-stream", width: values.width,
                height: values.height, storedAt: time(values.stored) ?? 0, validatedAt: time(values.validated),
                freshUntil: time(values.fresh), fields: values.fields ?? "")
            guard metadata.hasRoom else { return nil }
            self = .stored(EntryLine(metadata, digest, bytes: bytes))
        } else {
            return nil
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the line and its line feed.
    func append(to bytes: inout [UInt8]) {
        func text(_ name: StaticString, _ value: String) {
            name.withUTF8Buffer { bytes += $0 }
            Self.append(value, to: &bytes)
        }
        func number(_ name: StaticString, _ value: some BinaryInteger) {
            name.withUTF8Buffer { bytes += $0 }
            bytes += String(value).utf8
        }
        switch self {
        case .format(let format): text(#"{"sleeve":"#, format)
        case .stored(let entry):
            let metadata = entry.metadata
            text(#"{"url":"#, metadata.key)
            text(#","digest":"#, entry.digest.description)
            number(#","bytes":"#, entry.bytes)
            text(#","type":"#, metadata.mediaType)
            if let width = metadata.width { number(#","width":"#, width) }
            if let height = metadata.height { number(#","height":"#, height) }
            number(#","stored":"#, metadata.storedAt)
            if metadata.validatedAt != metadata.storedAt { number(#","validated":"#, metadata.validatedAt) }
            if let freshUntil = metadata.freshUntil { number(#","fresh":"#, freshUntil) }
            if !metadata.fields.isEmpty { text(#","fields":"#, metadata.fields) }
            number(#","seal":"#, entry.seal)
        case .removed(let key):
            text(#"{"url":"#, key)
            bytes += #","removed":true"#.utf8
        case .pinned(let key, let isPinned):
            text(#"{"url":"#, key)
            bytes += (isPinned ? #","pinned":true"# : #","pinned":false"#).utf8
        case .capacity(let capacity): number(#"{"capacity":"#, capacity)
        }
        bytes += "}\n".utf8
    }

    /// Appends a JSON string (RFC 8259 section 7).
    private static func append(_ value: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += ("\\u00" + (digits.utf8.count == 1 ? "0" : "") + digits).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// An entry with its cover's digest and length: what its line in `EntryLog` says.
package struct EntryLine: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// The body's length.
    package var bytes: Int

    package init(_ metadata: EntryMetadata, _ digest: Digest, bytes: Int) {
        (self.metadata, self.digest, self.bytes) = (metadata, digest, bytes)
    }

    /// The line and its line feed.
    package var json: [UInt8] { EntryLog.Line.stored(self).bytes }

    var seal: Int64 { Self.seal(metadata.key, digest) }

    /// A check of an entry's key and its cover's digest. A row or a line that a failing disk has changed must not give another URL's cover.
    static func seal(_ key: String, _ digest: Digest) -> Int64 {
        Int64(bitPattern: digest.withUnsafeBytes { FNV1a.hash($0, after: FNV1a.hash(key)) })
    }
}

/// Everything known of an entry apart from its bytes.
package struct EntryMetadata: Sendable, Hashable {
    /// The normalised URL.
    package var key: String
    package var mediaType: String
    package var width: Int?
    package var height: Int?
    /// Milliseconds since 1970.
    package var storedAt: Int64
    /// When the entry was last validated, or stored, in milliseconds since 1970.
    package var validatedAt: Int64
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package var freshUntil: Int64?
    /// The response's header fields as lines of `name: value`, and annotations, a line each.
    package var fields: String

    /// The longest key, media type and fields together, in bytes: 16 KiB of header fields, a URL of 8 KiB, and again as much for
    /// annotations, which may have another URL. Capacity counts them as the index's length, once it is measured.
    static let maximumLength = 48 << 10

    /// Whether the index takes it.
    var hasRoom: Bool { key.utf8.count + mediaType.utf8.count + fields.utf8.count <= Self.maximumLength }

    /// - Parameter validatedAt: `storedAt` by default.
    package init(
        key: String, mediaType: String, width: Int? = nil, height: Int? = nil, storedAt: Int64,
        validatedAt: Int64? = nil, freshUntil: Int64? = nil, fields: String = ""
    ) {
        self.key = key
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.validatedAt = validatedAt ?? storedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }
}
