import Platform

/// A digest of all that a change of pictures must leave as it is. Two files have the same one if they sound the same.
struct AudioDigest: Hashable {
    let digest: Digest

    /// - Throws: `EmbeddingProblem`, `OtherFormat` or `SystemError`.
    init(_ file: AudioFile) throws {
        let container = try file.container()
        var hasher = SHA256()
        let numbers = container.audio.flatMap { [UInt8].big($0.count, 8) } + container.facts
        numbers.withUnsafeBytes { hasher.update($0) }
        for range in container.audio {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let bytes = try file.bytes(offset..<min(range.upperBound, offset + 1 << 18))
                bytes.withUnsafeBytes { hasher.update($0) }
                offset += bytes.count
            }
        }
        digest = hasher.digest()
    }
}
