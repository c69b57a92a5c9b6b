import CoverCache
import Files
package import Platform

/// A cached cover that is open. Its bytes were compared with its digest, and can be read when the cover was evicted.
package final class OpenCover: Sendable {
    /// As `Cover.mediaType`.
    package let mediaType: String
    private let file: SourceFile

    /// Length in bytes.
    package var length: Int { file.length }

    /// Reads the whole file, on the caller's thread. Nil if it is missing or has other bytes.
    /// - Throws: `SystemError` if it cannot be read, which says nothing about the bytes.
    init?(_ entry: CachedEntry, _ path: String) throws(SystemError) {
        mediaType = entry.metadata.mediaType
        do throws(SystemError) {
            file = try SourceFile(path: path)
        } catch {
            if error.cause == .missing { return nil }
            throw error
        }
        guard file.length == entry.bytes, try file.digest() == entry.digest else { return nil }
    }

    /// A cover without a file, in one that has no name.
    /// - Throws: `SystemError` if it cannot be written.
    package init(_ cover: Cover) throws(SystemError) {
        mediaType = cover.mediaType
        let folder = try OpenFolder(path: FileManager.default.temporaryDirectory.path)
        let file = try NewFile(in: folder, mode: 0o600)
        try file.write(Array(cover.data))
        self.file = try file.source()
    }

    /// Reads a part on the caller's thread.
    /// - Throws: `SystemError`.
    package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        try file.bytes(at: offset, count: count)
    }
}
