import Platform

/// The end of a pack: 56 bytes that prove that all records are there. All numbers are little-endian.
///
///     a pack
///     0  magic       "SLVPACK1": the format and its version
///     8  records     as in a segment, without padding (`RecordHeader`)
///     …  trailer
///
///     the trailer
///     0  magic       "SLVPEND1"
///     8  UInt64      number of records
///    16  UInt64      offset of the trailer
///    24  32 bytes    SHA-256 of all headers and metadata, in order
///
/// A record without a body shares that of the last record with one, so a reader needs to keep one body.
struct PackTrailer: Equatable {
    static let size = 56
    /// "SLVPACK1", little-endian.
    static let packMagic: UInt64 = 0x314B_4341_5056_4C53
    /// "SLVPEND1", little-endian.
    static let magic: UInt64 = 0x3144_4E45_5056_4C53

    var records = 0
    var offset = 0
    var digest: Digest

    init(records: Int, offset: Int, hash: SHA256) {
        self.records = records
        self.offset = offset
        digest = hash.digest()
    }

    /// Returns nil if the bytes are no trailer.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size, UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == Self.magic,
            let digest = Digest(bytes: UnsafeRawBufferPointer(rebasing: bytes[24...])),
            let records = Int(exactly: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
            let offset = Int(exactly: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        else { return nil }
        self.records = records
        self.offset = offset
        self.digest = digest
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for number in [Self.magic, UInt64(records), UInt64(offset)] { bytes.append(littleEndian: number) }
        digest.withUnsafeBytes { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
