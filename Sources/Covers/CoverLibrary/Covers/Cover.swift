public import AlbumLibrary
import CoverCache
public import CoverFetch
import CoverSizes
import CurlHTTP
import Files
import ImageHeader
public import Platform

/// A cover and what is known about it.
public struct Cover: Sendable, Hashable {
    /// The normalised URL: the cover's key in the cache.
    public var url: URL
    /// The key in the cache. `url` may differ: Foundation percent-encodes more characters.
    package var key: String
    /// The image as the server sent it.
    public var data: Data
    /// Such as `image/jpeg`. Determined from the image's first bytes rather than the server's header field.
    public var mediaType: String
    /// In pixels; nil if the image's header does not say.
    public var width: Int?
    /// In pixels; nil if the image's header does not say.
    public var height: Int?
    /// SHA-256 of `data`, in hexadecimal.
    public var digest: String
    /// The cached cover was not validated within its freshness lifetime (RFC 9111 §4.2.4): the server may have another one.
    public var isStale = false
    /// It is stale, and its key leaves parameters of its address out: no refresh has the address.
    package var lacksAddress = false

    /// A cover made by the caller, for previews and tests.
    public init(
        url: URL, data: Data, mediaType: String, width: Int? = nil, height: Int? = nil, isStale: Bool = false
    ) {
        self.url = url
        key = url.absoluteString
        self.data = data
        self.mediaType = mediaType
        self.width = width
        self.height = height
        digest = data.withUnsafeBytes { Digest(of: $0).description }
        self.isStale = isStale
    }

    init(_ key: String, _ header: ImageHeader, _ body: [UInt8]) {
        self.init(
            url: URL(key: key), data: Data(body), mediaType: header.mediaType, width: header.width,
            height: header.height)
        self.key = key
    }

    /// - Parameter isNew: it was stored a moment ago, and is not stale.
    init(_ entry: CachedEntry, _ body: [UInt8], isNew: Bool = false) {
        key = entry.metadata.key
        url = URL(key: key)
        data = Data(body)
        mediaType = entry.metadata.mediaType
        width = entry.metadata.width
        height = entry.metadata.height
        digest = entry.digest.description
        isStale = !isNew && Staleness(entry, at: WallClock.milliseconds()) != .fresh
        lacksAddress = isStale && UnkeptParts(entry.metadata.fields).omitsParameters
    }
}

extension URL {
    /// - Parameter key: a key of the cache: a normalised URL, all ASCII.
    init(key: String) {
        // Characters that Foundation does not accept in a URL are percent-encoded.
        self = URL(string: key, encodingInvalidCharacters: true) ?? URL(filePath: key)
    }
}

/// Covers from elsewhere than a cache.
extension Cover {
    /// A cover of these bytes. Nil if they are no image.
    /// - Parameters:
    ///   - url: where they come from.
    ///   - data: the image. Its media type and its size are read from its first bytes.
    public init?(url: URL, data: Data) {
        guard let header = data.withUnsafeBytes({ ImageHeader($0) }) else { return nil }
        self.init(url: url, data: data, mediaType: header.mediaType, width: header.width, height: header.height)
    }

    /// The cover file that a person has beside an album's music, read where it is, on the caller's thread. Nil if there is none, or it cannot
    /// be read, or it is no image, or something else than a file is in its place.
    public init?(fileOf album: Album) {
        guard let path = album.coverFilePath, let file = album.openCoverFile(),
            let bytes = try? file.bytes(at: 0, count: file.length)
        else { return nil }
        let key = "file://" + String(decoding: path.flatMap(Self.encoded), as: UTF8.self)
        self.init(url: URL(key: key), data: Data(bytes))
        self.key = key
    }

    private static func encoded(_ byte: UInt8) -> [UInt8] {
        byte == UInt8(ascii: "/") || PercentEncoding.isUnreserved(byte) ? [byte] : PercentEncoding.encoded(byte)
    }

    /// The cover in a smaller size, as `LibraryAPI.cover(for:longestSide:)` describes it: itself if it is small enough or cannot be made
    /// smaller. Computes on the caller's thread, for some milliseconds.
    /// - Parameter longestSide: of the result, in pixels, at least 1.
    public func resized(longestSide: Int) -> Cover {
        guard let bytes = Self.resized(data, longestSide: longestSide),
            var small = Cover(url: url, data: Data(bytes))
        else { return self }
        (small.key, small.isStale) = (key, isStale)
        return small
    }

    /// A picture as a baseline JPEG of a smaller size; nil if it should be used as it is: it is such a JPEG, or cannot be made smaller.
    /// Computes on the caller's thread, for some milliseconds.
    package static func resized(_ picture: some ContiguousBytes, longestSide: Int) -> [UInt8]? {
        picture.withUnsafeBytes { bytes in
            if case .made(let small) = SmallPicture.reduce(bytes, to: longestSide) { small.bytes } else { nil }
        }
    }
}

/// The file of a cached cover, open. Its bytes were compared with its digest, and can be read even after the cover is evicted.
public final class CachedFile: Sendable {
    /// Where the file is in the cache. It has the cover's bytes and nothing else. Do not change it; it is there until the cover is evicted or
    /// replaced.
    public let url: URL
    /// SHA-256 of the bytes, in hexadecimal.
    public let digest: String
    /// As `Cover.mediaType`.
    public let mediaType: String
    /// As `Cover.isStale`.
    public let isStale: Bool
    private let file: SourceFile

    /// Length in bytes.
    public var bytes: Int { file.length }

    /// Reads the whole file, on the caller's thread. Nil if it is missing or has other bytes.
    /// - Throws: `SystemError` if it cannot be read, which says nothing about the bytes.
    convenience init?(_ entry: CachedEntry, _ path: String) throws(SystemError) {
        try self.init(
            path, entry.digest, bytes: entry.bytes, mediaType: entry.metadata.mediaType,
            isStale: Staleness(entry, at: WallClock.milliseconds()) != .fresh)
    }

    /// The same of a cover in a smaller size.
    convenience init?(_ cover: Cover, _ path: String) throws(SystemError) {
        guard let digest = Digest(cover.digest) else { return nil }
        try self.init(path, digest, bytes: cover.data.count, mediaType: cover.mediaType, isStale: cover.isStale)
    }

    private init?(
        _ path: String, _ digest: Digest, bytes: Int, mediaType: String, isStale: Bool
    ) throws(SystemError) {
        (url, self.digest, self.mediaType) = (URL(filePath: path), digest.description, mediaType)
        self.isStale = isStale
        do throws(SystemError) {
            file = try SourceFile(path: path)
        } catch {
            if error.cause == .missing { return nil }
            throw error
        }
        guard file.length == bytes, try file.digest() == digest else { return nil }
    }

    /// Reads a part on the caller's thread.
    /// - Parameter range: In bytes. What lies before the beginning or behind the end is left out.
    /// - Throws: `CoverFailure` if the disk cannot read it.
    public func read(_ range: Range<Int>) throws(CoverFailure) -> Data {
        let range = range.clamped(to: 0..<bytes)
        do throws(SystemError) {
            return Data(try file.bytes(at: range.lowerBound, count: range.count))
        } catch {
            throw CoverFailure(.cache, url: "", detail: "\(error)")
        }
    }

    /// Calls `body` with the file's descriptor, for `sendfile(2)` and the like with an offset of their own. It is valid until `body` returns; do not close it.
    public func withFileDescriptor<Result, Failure: Error>(
        _ body: (Int32) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(file.descriptor)
    }
}
