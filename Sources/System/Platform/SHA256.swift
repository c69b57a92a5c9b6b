#if canImport(CryptoKit)
    import CryptoKit
#else
    import CCrypto
#endif

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
