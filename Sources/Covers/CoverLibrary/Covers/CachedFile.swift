import CoverCache
public import CoverFetch
import Files
public import Platform

/// The file of a cached cover, open. Its bytes were compared with its digest, and can be read even after the cover is evicted.
public final class CachedFile: Sendable {
    /// Where the file is in the cache. It has the cover's bytes and nothing else. Do not change it; it is there until the cover is evicted or
    /// replaced.
    public let url: URL
    /// SHA-256 of the bytes, in hexadecimal.
    public let digest: String
    /// As `Cover.mediaType`.
    public let mediaType: String
    private let file: SourceFile

    /// Length in bytes.
    public var count: Int { file.length }

    /// Reads the whole file, on the caller's thread. Nil if it is missing or has other bytes.
    /// - Throws: `SystemError` if it cannot be read, which says nothing about the bytes.
    init?(_ entry: CachedEntry, _ path: String) throws(SystemError) {
        (url, digest, mediaType) = (URL(filePath: path), entry.digest.description, entry.metadata.mediaType)
        do throws(SystemError) {
            file = try SourceFile(path: path)
        } catch {
            if error.cause == .missing { return nil }
            throw error
        }
        guard file.length == entry.bytes, try file.digest() == entry.digest else { return nil }
    }

    /// Reads a part on the caller's thread; less than `count` bytes at the end.
    /// - Parameters:
    ///   - offset: from the beginning, in bytes.
    ///   - count: in bytes.
    /// - Throws: `CoverFailure` if the disk cannot read it.
    public func read(at offset: Int, count: Int) throws(CoverFailure) -> Data {
        do throws(SystemError) {
            return Data(try file.bytes(at: offset, count: count))
        } catch {
            throw CoverFailure(.cache, url: "", detail: "\(error)")
        }
    }
}
