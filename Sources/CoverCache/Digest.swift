import Crypto

/// SHA-256 of a body (FIPS 180-4). It identifies the blob.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    package static let byteCount = 32

    package init(of bytes: UnsafeRawBufferPointer) {
        var hasher = SHA256()
        hasher.update(bufferPointer: bytes)
        self.init(finalizing: hasher)
    }

    /// The digest of what was hashed so far.
    init(finalizing hasher: SHA256) {
        words = hasher.finalize().withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self) }
    }

    /// Returns nil unless there are exactly 32 bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        words = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words) { try body($0) }
    }

    /// The first eight bytes. The index finds blobs by this number and then compares the whole digest.
    var tag: Int64 { Int64(truncatingIfNeeded: words.0) }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
        return withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: 64) { text in
                for index in 0..<Self.byteCount {
                    text[2 * index] = digit(bytes[index] >> 4)
                    text[2 * index + 1] = digit(bytes[index] & 15)
                }
                return 64
            }
        }
    }

    package static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
