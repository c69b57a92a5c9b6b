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

    /// - Throws: `SystemError`, or `EmbeddingProblem` if the file is too short.
    func bytes(_ range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= length, range.count <= Self.maximumLength else {
            throw EmbeddingProblem.damaged
        }
        let bytes = try source.bytes(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else { throw EmbeddingProblem.damaged }
        return bytes
    }

    /// Up to `count` bytes: fewer at the end.
    func bytes(at offset: Int, upTo count: Int) throws -> [UInt8] {
        try bytes(offset..<max(offset, min(length, offset + count)))
    }
}
