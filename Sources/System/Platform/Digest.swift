#if canImport(CryptoKit)
    import CryptoKit
#else
    import CCrypto
#endif

/// SHA-256 of bytes (FIPS 180-4). It identifies what is cached.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
    typealias Words = (UInt64, UInt64, UInt64, UInt64)
    private let words: Words

    private static let byteCount = 32

    init(_ words: Words) { self.words = words }

    package init(of bytes: UnsafeRawBufferPointer) {
        var hasher = SHA256()
        hasher.update(bytes)
        self = hasher.digest()
    }

    package init(of bytes: some Sequence<UInt8>) {
        self =
            bytes.withContiguousStorageIfAvailable { Digest(of: UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { Digest(of: $0) }
    }

    /// Returns nil unless there are exactly 32 bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        words = bytes.loadUnaligned(as: Words.self)
    }

    /// Returns nil unless `text` is a digest's `description`: 64 lower-case hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 2 * Self.byteCount, let bytes = Hexadecimal.bytes(text.utf8),
            let digest = bytes.withUnsafeBytes({ Self(bytes: $0) }), digest.description == text
        else { return nil }
        self = digest
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words) { try body($0) }
    }

    /// The first eight bytes.
    package var tag: Int64 { Int64(truncatingIfNeeded: words.0) }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: 64) { text in
                for index in 0..<Self.byteCount {
                    text[2 * index] = Hexadecimal.digit(bytes[index] >> 4)
                    text[2 * index + 1] = Hexadecimal.digit(bytes[index] & 15)
                }
                return 64
            }
        }
    }

    package static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest: Codable {
    /// - Throws: `DecodingError` for anything else than a `description`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no SHA-256 in hexadecimal")
        }
        self = digest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Computes a digest of bytes that arrive in parts. A value: a copy goes on independently.
package struct SHA256: Sendable {
    #if canImport(CryptoKit)
        private var hasher = CryptoKit.SHA256()
    #else
        private var context = SHA256_CTX()
    #endif

    package init() {
        #if !canImport(CryptoKit)
            // The three calls always succeed: they allocate nothing.
            SHA256_Init(&context)
        #endif
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        #if canImport(CryptoKit)
            hasher.update(bufferPointer: bytes)
        #else
            SHA256_Update(&context, bytes.baseAddress, bytes.count)
        #endif
    }

    /// The digest of the bytes so far.
    package func digest() -> Digest {
        #if canImport(CryptoKit)
            return hasher.finalize().withUnsafeBytes { Digest($0.loadUnaligned(as: Digest.Words.self)) }
        #else
            var (context, words): (SHA256_CTX, Digest.Words) = (context, (0, 0, 0, 0))
            withUnsafeMutableBytes(of: &words) { bytes in
                _ = SHA256_Final(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, &context)
            }
            return Digest(words)
        #endif
    }
}

/// Comparing secrets.
package enum ConstantTime {
    /// The time that the comparison takes depends on the texts' lengths alone.
    package static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        #if canImport(Darwin)
            return timingsafe_bcmp(left, right, left.count) == 0
        #else
            return CRYPTO_memcmp(left, right, left.count) == 0
        #endif
    }
}

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
    package static func hash(_ text: String) -> UInt64 { hash(text.utf8) }
}

/// The SplitMix64 generator (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014), which gives the same
/// sequence for the same seed on every system.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// The generator's finalizer: neighbouring values get unrelated results.
    package static func mix(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
