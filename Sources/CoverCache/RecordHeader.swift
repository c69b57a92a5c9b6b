import Platform

/// A record's header in a segment: 72 bytes, followed by the metadata and the body. All numbers are little-endian.
///
///     0  magic       "SLEEVE01": the format and its version
///     8  UInt32      length of the metadata, in bytes
///    12  UInt32      1: a reference, whose body is in another record with the same digest; else 0
///    16  UInt64      length of the body, in bytes
///    24  UInt64      XXH64 of the body
///    32  32 bytes    SHA-256 of the body
///    64  UInt64      XXH64 of the metadata, seeded with the XXH64 of bytes 0..<64
///    72  metadata    UTF-8 lines: url, type, size, stored, fresh-until, a blank line, then the stored response fields
///
/// Every record starts on a 4 KiB boundary, so punching a hole for it frees whole blocks and leaves its neighbours intact.
struct RecordHeader: Equatable {
    static let size = 72
    static let alignment = 4096
    /// "SLEEVE01", little-endian.
    static let magic: UInt64 = 0x3130_4556_4545_4C53
    /// The longest metadata, in bytes. A header that states more is damaged.
    static let maximumMetadata = 1 << 20

    var isReference: Bool
    var metadataLength: Int
    var bodyLength: Int
    var bodyChecksum: UInt64
    var digest: Digest

    /// The record's length in bytes: header, metadata and, unless it is a reference, body.
    var span: Int { Self.size + metadataLength + (isReference ? 0 : bodyLength) }

    /// The disk space of a record of `span` bytes: `span` rounded up to the alignment.
    static func charge(_ span: Int) -> Int { (span + alignment - 1) & ~(alignment - 1) }

    /// Returns the bytes that precede the body: header and metadata.
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

extension RecordHeader {
    /// Decodes a header without checking its checksum; `isIntact` does that once the metadata has been read. Returns nil if the
    /// bytes are no header.
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

    /// Whether `bytes`, a header and its whole metadata, match their checksum.
    static func isIntact(_ bytes: UnsafeRawBufferPointer) -> Bool {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 64, as: UInt64.self)) == checksum(bytes)
    }

    /// Whether a block of a record, other than its first, begins like a header. If the record's own header rotted, a scan would take
    /// what follows for a record of its own: a response could plant a cover under any URL.
    /// - Parameters:
    ///   - front: header and metadata.
    ///   - body: the bytes that follow.
    static func embedsHeader(_ front: [UInt8], _ body: UnsafeRawBufferPointer) -> Bool {
        let length = front.count + body.count
        return stride(from: alignment, to: length - size, by: alignment).contains { start in
            (0..<8).allSatisfy { index in
                let offset = start + index
                let byte = offset < front.count ? front[offset] : body[offset - front.count]
                return byte == UInt8(truncatingIfNeeded: magic >> (8 * index))
            }
        }
    }

    /// Whether bytes begin like a record anywhere.
    static func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 8 else { return false }
        return bytes.withUnsafeBytes { bytes in
            (0...bytes.count - 8).contains {
                bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) == magic.littleEndian
            }
        }
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let seed = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<64]))
        return Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[size...]), seed: seed)
    }
}
