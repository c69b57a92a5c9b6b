/// XXH64 (Yann Collet's xxHash specification, version 0.1.1). Every read compares it with the checksum stored at writing.
///
/// It takes about a tenth of SHA-256's time and detects accidental damage only. `verify` also recomputes the digest.
enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32, let base = bytes.baseAddress {
            var (lane1, lane2) = (seed &+ prime1 &+ prime2, seed &+ prime2)
            var (lane3, lane4) = (seed, seed &- prime1)
            // Pointers without bounds checks halve the loop's time.
            let end = base + (bytes.count & ~31)
            var position = base
            while position != end {
                lane1 = round(lane1, UInt64(littleEndian: position.loadUnaligned(as: UInt64.self)))
                lane2 = round(lane2, UInt64(littleEndian: position.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
                lane3 = round(lane3, UInt64(littleEndian: position.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
                lane4 = round(lane4, UInt64(littleEndian: position.loadUnaligned(fromByteOffset: 24, as: UInt64.self)))
                position += 32
            }
            offset = bytes.count & ~31
            hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
            hash = (hash ^ round(0, lane1)) &* prime1 &+ prime4
            hash = (hash ^ round(0, lane2)) &* prime1 &+ prime4
            hash = (hash ^ round(0, lane3)) &* prime1 &+ prime4
            hash = (hash ^ round(0, lane4)) &* prime1 &+ prime4
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            hash = rotate(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    /// The checksum of a text's UTF-8 bytes.
    static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 { rotate(lane &+ word &* prime2, 31) &* prime1 }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}
