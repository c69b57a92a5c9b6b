import Files
import Platform

/// An audio file, opened once: what is parsed, hashed and copied are the same bytes.
final class AudioFile {
    let source: SourceFile
    /// The extension of its name, in lower case.
    let fileExtension: String

    init(_ source: consuming SourceFile, extension fileExtension: String) {
        self.source = source
        self.fileExtension = fileExtension
    }

    var length: Int { source.length }

    /// Tags above this are no tags of music.
    private static let maximumLength = 256 << 20

    /// - Throws: `SystemError`, or `TagFailure` if the file is too short.
    func bytes(_ range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= length, range.count <= Self.maximumLength else {
            throw TagFailure.damaged
        }
        let bytes = try source.bytes(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else { throw TagFailure.damaged }
        return bytes
    }

    /// Up to `count` bytes: fewer at the end.
    func bytes(at offset: Int, upTo count: Int) throws -> [UInt8] {
        try bytes(offset..<max(offset, min(length, offset + count)))
    }

    /// A digest of all that a change of pictures must leave as it is. Two files have the same one if they sound the same.
    /// - Throws: `TagFailure`, `OtherFormat` or `SystemError`.
    func audioDigest() throws -> Digest {
        let container = try self.container()
        var hasher = SHA256()
        let numbers = container.audio.flatMap { [UInt8].big($0.count, 8) } + container.facts
        numbers.withUnsafeBytes { hasher.update($0) }
        for range in container.audio {
            var offset = range.lowerBound
            while offset < range.upperBound {
                let bytes = try self.bytes(offset..<min(range.upperBound, offset + 1 << 18))
                bytes.withUnsafeBytes { hasher.update($0) }
                offset += bytes.count
            }
        }
        return hasher.digest()
    }
}

/// Numbers and texts in files, whose bytes are untrusted.
extension [UInt8] {
    /// - Throws: `TagFailure` if they are not there.
    func bytes(_ range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw TagFailure.damaged }
        return Array(self[range])
    }

    /// The bytes of a length that a number says.
    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else {
            throw TagFailure.damaged
        }
        return Array(self[offset..<offset + count])
    }

    /// A number with its most significant byte first. One above 2^62 is damage.
    func big(_ offset: Int, _ count: Int) throws -> Int {
        let value = try bytes(at: offset, count: count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard value < 1 << 62 else { throw TagFailure.damaged }
        return Int(value)
    }

    /// A number with its least significant byte first. One above 2^62 is damage.
    func little(_ offset: Int, _ count: Int) throws -> Int {
        try Array(bytes(at: offset, count: count).reversed()).big(0, count)
    }

    func has(_ text: String, at offset: Int) -> Bool {
        offset >= 0 && count - offset >= text.utf8.count && self[offset...].starts(with: text.utf8)
    }

    /// Replaces bytes at an offset, which the caller has checked.
    mutating func put(_ bytes: [UInt8], at offset: Int) {
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
