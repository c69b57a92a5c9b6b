package import Platform

/// Writes a pack (`PackTrailer`): covers with their metadata in one file, for another machine.
package struct PackWriter {
    private static let blockSize = 1 << 20

    private let output: ([UInt8]) throws -> Void
    private var block: [UInt8] = []
    private var hash = SHA256()
    private var lastBody: Digest?
    /// Records so far.
    package private(set) var records = 0
    /// Bytes so far. At the end, the length of the pack.
    package private(set) var length = 0

    /// - Parameter output: writes the next bytes of the pack.
    package init(output: @escaping ([UInt8]) throws -> Void) {
        self.output = output
        append(littleEndian: PackTrailer.packMagic)
    }

    /// Whether the last body has this digest, so that `add` needs no body.
    package func hasBody(_ digest: Digest) -> Bool { lastBody == digest }

    /// Adds an entry.
    /// - Parameter body: nil if `hasBody` is true.
    /// - Throws: `CacheError.embedsRecord`, or the error of `output`.
    package mutating func add(_ entry: CachedEntry, body: [UInt8]?) throws {
        var metadata = entry.metadata
        if entry.validatedAt != metadata.storedAt { metadata.validatedAt = entry.validatedAt }
        let checksum = body.map { body in body.withUnsafeBytes { Checksum.of($0) } }
        let front = RecordHeader.encode(
            metadata, digest: entry.digest, bodyChecksum: checksum ?? 0, bodyLength: entry.bytes,
            isReference: body == nil)
        // A reader that finds damage goes on at the next bytes that begin like a record.
        if RecordHeader.contains(front.dropFirst(8) + (body ?? [])) { throw CacheError.embedsRecord }
        front.withUnsafeBytes { hash.update($0) }
        append(front)
        if let body {
            append(body)
            lastBody = entry.digest
        }
        records += 1
        if block.count >= Self.blockSize { try flush() }
    }

    /// Writes the trailer.
    /// - Throws: the error of `output`.
    package mutating func finish() throws {
        append(PackTrailer(records: records, offset: length, hash: hash).bytes)
        try flush()
    }

    private mutating func append(_ bytes: [UInt8]) {
        block += bytes
        length += bytes.count
    }

    private mutating func append(littleEndian number: UInt64) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: number)
        append(bytes)
    }

    private mutating func flush() throws {
        try output(block)
        block.removeAll(keepingCapacity: true)
    }
}
