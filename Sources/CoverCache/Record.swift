/// What is known of an entry besides its bytes: enough to rebuild its index row from the segment alone.
package struct EntryMetadata: Sendable, Hashable {
    /// The normalised URL.
    package var key: String
    package var mediaType: String
    package var width: Int?
    package var height: Int?
    /// Milliseconds since 1970.
    package var storedAt: Int64
    /// Milliseconds since 1970; nil when the response said nothing about it.
    package var freshUntil: Int64?
    /// Response fields to keep, as lines of `name: value`. The cache does not look into them.
    package var fields: String

    package init(
        key: String, mediaType: String, width: Int? = nil, height: Int? = nil, storedAt: Int64,
        freshUntil: Int64? = nil,
        fields: String = ""
    ) {
        self.key = key
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }
}

/// The head of a record, as it lies in a segment: 72 bytes, all numbers little-endian, then the metadata, then the body.
///
///     0  magic       "SLEEVE01": the format and its version
///     8  UInt32      length of the metadata
///    12  UInt32      1: the body lies in another record with the same digest; else 0
///    16  UInt64      length of the body
///    24  UInt64      XXH64 of the body
///    32  32 bytes    SHA-256 of the body
///    64  UInt64      XXH64 of the metadata, seeded with the XXH64 of bytes 0..<64
///    72  metadata    lines of UTF-8: url, type, size, stored, fresh-until, a blank line, then the response fields kept
///
/// Every record starts on a 4 KiB boundary, so that punching one out frees whole blocks and never touches its neighbour.
struct RecordHead: Equatable {
    static let size = 72
    static let alignment = 4096
    /// "SLEEVE01", little-endian.
    static let magic: UInt64 = 0x3130_4556_4545_4C53
    /// Metadata longer than this is not ours.
    static let maximumMetadata = 1 << 20

    var isReference: Bool
    var metadataLength: Int
    var bodyLength: Int
    var bodyChecksum: UInt64
    var digest: Digest

    /// Head, metadata and (unless it is a reference) body.
    var span: Int { Self.size + metadataLength + (isReference ? 0 : bodyLength) }

    /// What a record of `span` bytes takes of the disk.
    static func charge(_ span: Int) -> Int { (span + alignment - 1) & ~(alignment - 1) }

    /// Head and metadata, ready to be written before the body.
    static func encode(
        _ metadata: EntryMetadata, digest: Digest, bodyChecksum: UInt64, bodyLength: Int, isReference: Bool
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.reserveCapacity(size + metadata.key.utf8.count + metadata.fields.utf8.count + 160)
        metadata.encode(into: &bytes)
        bytes.withUnsafeMutableBytes { raw in
            raw.storeBytes(of: magic.littleEndian, as: UInt64.self)
            raw.storeBytes(of: UInt32(raw.count - size).littleEndian, toByteOffset: 8, as: UInt32.self)
            raw.storeBytes(of: UInt32(isReference ? 1 : 0).littleEndian, toByteOffset: 12, as: UInt32.self)
            raw.storeBytes(of: UInt64(bodyLength).littleEndian, toByteOffset: 16, as: UInt64.self)
            raw.storeBytes(of: bodyChecksum.littleEndian, toByteOffset: 24, as: UInt64.self)
            digest.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: raw[32..<64]).copyMemory(from: $0) }
            let sum = Self.checksum(UnsafeRawBufferPointer(raw))
            raw.storeBytes(of: sum.littleEndian, toByteOffset: 64, as: UInt64.self)
        }
        return bytes
    }

}

extension RecordHead {
    /// Nil when the bytes are no head; `isSound` must be asked as well, once the metadata is there.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size,
            UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == Self.magic,
            let digest = Digest(bytes: UnsafeRawBufferPointer(rebasing: bytes[32..<64]))
        else { return nil }
        metadataLength = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        isReference = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)) == 1
        let length = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        guard metadataLength <= Self.maximumMetadata, length <= UInt64(UInt32.max) else { return nil }
        bodyLength = Int(length)
        bodyChecksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        self.digest = digest
    }

    /// Whether `bytes`, head and metadata, are as they were written.
    static func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 64, as: UInt64.self)) == checksum(bytes)
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let head = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<64]))
        return Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[size...]), seed: head)
    }
}

extension EntryMetadata {
    func encode(into bytes: inout [UInt8]) {
        func line(_ name: StaticString, _ value: String) {
            name.withUTF8Buffer { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        line("url: ", key)
        line("type: ", mediaType)
        if let width, let height { line("size: ", "\(width)x\(height)") }
        line("stored: ", String(storedAt))
        if let freshUntil { line("fresh-until: ", String(freshUntil)) }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: fields.utf8)
    }

    /// Nil when `bytes` lack a key.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        self.init(key: "", mediaType: "application/octet-stream", storedAt: 0)
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[colon...].dropFirst(2))
            switch line[..<colon] {
            case "url": key = value
            case "type": mediaType = value
            case "size":
                let sides = value.split(separator: "x").compactMap { Int($0) }
                if sides.count == 2 { (width, height) = (sides[0], sides[1]) }
            case "stored": storedAt = Int64(value) ?? 0
            case "fresh-until": freshUntil = Int64(value)
            default: break
            }
        }
        fields = String(decoding: rest, as: UTF8.self)
        if key.isEmpty { return nil }
    }
}
