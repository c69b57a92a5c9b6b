package import Platform

/// Writes a pack: covers with their metadata in one tar file, for another machine.
///
///     entries.jsonl        a line for each entry (`EntryLog`), after {"sleeve":"pack 1"}
///     covers/ab/abcdef…    a cover, named by the SHA-256 of its bytes
///
/// `entries.jsonl` comes first, so that a reader can store each cover as it arrives; its lines are kept in memory until then.
package struct PackWriter {
    static let format = "pack 1"
    private static let blockSize = 1 << 20

    private let output: ([UInt8]) throws -> Void
    private var lines = EntryLog.Line.format(PackWriter.format).bytes
    private var block: [UInt8] = []
    /// The covers of the entries, each once, in order.
    package private(set) var digests: [Digest] = []
    /// Bytes so far. At the end, the length of the pack.
    package private(set) var length = 0

    /// - Parameter output: writes the next bytes of the pack.
    package init(output: @escaping ([UInt8]) throws -> Void) { self.output = output }

    /// Adds an entry. Entries that share a cover are neighbours.
    package mutating func add(_ entry: CachedEntry) {
        lines += EntryLine(entry).line
        if digests.last != entry.digest { digests.append(entry.digest) }
    }

    /// Writes the entries. The covers of `digests` follow.
    /// - Throws: the error of `output`.
    package mutating func finishEntries() throws {
        try write("entries.jsonl", lines)
        lines = []
    }

    /// Writes a cover.
    /// - Throws: the error of `output`.
    package mutating func add(_ digest: Digest, body: [UInt8]) throws {
        let name = digest.description
        try write("covers/\(name.prefix(2))/\(name)", body)
    }

    /// Writes the end of the archive: two empty blocks.
    /// - Throws: the error of `output`.
    package mutating func finish() throws {
        append([UInt8](repeating: 0, count: 2 * TarHeader.size))
        try flush()
    }

    private mutating func write(_ name: String, _ bytes: [UInt8]) throws {
        let header = TarHeader(name, length: bytes.count)
        append(header.bytes)
        append(bytes)
        append([UInt8](repeating: 0, count: header.padding))
        if block.count >= Self.blockSize { try flush() }
    }

    private mutating func append(_ bytes: [UInt8]) {
        block += bytes
        length += bytes.count
    }

    private mutating func flush() throws {
        try output(block)
        block.removeAll(keepingCapacity: true)
    }
}
