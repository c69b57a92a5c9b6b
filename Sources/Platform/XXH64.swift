/// The hash function XXH64 with the seed 0 (Collet, "xxHash fast digest algorithm", version 0.1.1): what other programs can compute too.
package enum XXH64 {
    private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5
    )

    /// The hash of a text's UTF-8.
    package static func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var rest = bytes[...]
        var hash = bytes.count < 32 ? primes.4 : stripes(&rest)
        hash &+= UInt64(bytes.count)
        while rest.count >= 8 {
            hash = rotate(hash ^ round(0, read(&rest, UInt64.self)), 27) &* primes.0 &+ primes.3
        }
        if rest.count >= 4 {
            hash = rotate(hash ^ UInt64(read(&rest, UInt32.self)) &* primes.0, 23) &* primes.1 &+ primes.2
        }
        for byte in rest { hash = rotate(hash ^ UInt64(byte) &* primes.4, 11) &* primes.0 }
        hash = (hash ^ hash >> 33) &* primes.1
        hash = (hash ^ hash >> 29) &* primes.2
        return hash ^ hash >> 32
    }

    /// Takes all stripes of 32 bytes.
    private static func stripes(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UInt64 {
        var lanes = [primes.0 &+ primes.1, primes.1, 0, 0 &- primes.0]
        while rest.count >= 32 {
            for lane in 0..<4 { lanes[lane] = round(lanes[lane], read(&rest, UInt64.self)) }
        }
        let sum = zip(lanes, [1, 7, 12, 18]).reduce(0) { $0 &+ rotate($1.0, $1.1) }
        return lanes.reduce(sum) { ($0 ^ round(0, $1)) &* primes.0 &+ primes.3 }
    }

    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* primes.1, 31) &* primes.0
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }

    /// Takes a little-endian integer from the front.
    private static func read<Value: FixedWidthInteger>(
        _ rest: inout Slice<UnsafeRawBufferPointer>, _ type: Value.Type
    ) -> Value {
        let size = MemoryLayout<Value>.size
        defer { rest = rest.dropFirst(size) }
        return Value(littleEndian: UnsafeRawBufferPointer(rebasing: rest.prefix(size)).loadUnaligned(as: type))
    }
}
