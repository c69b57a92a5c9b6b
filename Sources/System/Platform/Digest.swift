/// SHA-256 of bytes (FIPS 180-4). It identifies what is cached.
package struct Digest: Sendable, Hashable, CustomStringConvertible {
    typealias Words = (UInt64, UInt64, UInt64, UInt64)
    private let words: Words

    package static let byteCount = 32

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
        var rest = text.utf8[...]
        var bytes: [UInt8] = []
        while !rest.isEmpty, bytes.count < Self.byteCount, let byte = Hexadecimal.byte(rest.prefix(2)) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty, let digest = bytes.withUnsafeBytes({ Self(bytes: $0) }), digest.description == text else {
            return nil
        }
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
