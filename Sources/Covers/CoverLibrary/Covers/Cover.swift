import CoverCache
import CurlHTTP
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

    init(_ entry: CachedEntry, _ body: [UInt8], isStale: Bool) {
        key = entry.metadata.key
        url = URL(key: key)
        data = Data(body)
        mediaType = entry.metadata.mediaType
        width = entry.metadata.width
        height = entry.metadata.height
        digest = entry.digest.description
        self.isStale = isStale
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
