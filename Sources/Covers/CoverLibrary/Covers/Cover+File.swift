public import AlbumLibrary
import CoverSizes
import Files
import ImageHeader
public import Platform

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
