/// The hash function FNV-1a with 64 bits (Fowler, Noll, Vo), the same on every machine and in every run, unlike `Hasher`.
package enum FNV1a {
    private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Parameter seed: the hash of the bytes that precede these.
    package static func hash(_ bytes: UnsafeRawBufferPointer, after seed: UInt64? = nil) -> UInt64 {
        var hash = seed ?? basis
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.withContiguousStorageIfAvailable { hash(UnsafeRawBufferPointer($0)) }
            ?? bytes.reduce(basis) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The hash of a text's UTF-8.
    package static func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }
}
