import CoverLibrary
import Files
import HTTPTypes
import Platform
import WebServer

/// A cover on its way to a client: in a file that is read as the client takes it, or in memory if it is small. So a client that reads slowly
/// holds one piece of it.
struct SentCover: Sendable {
    private enum Source: Sendable {
        case held([UInt8])
        case cached(CachedFile)
        case temporary(TemporaryFile)
    }

    /// A file without a name.
    private final class TemporaryFile: Sendable {
        let file: SourceFile

        /// - Throws: `SystemError` if it cannot be written.
        init(_ bytes: Data) throws(SystemError) {
            let folder = try OpenFolder(path: FileManager.default.temporaryDirectory.path)
            let new = try NewFile(in: folder, mode: 0o600)
            try new.write(Array(bytes))
            file = try new.source()
        }
    }

    /// In bytes.
    private static let largestHeld = 256 << 10

    private let mediaType: String
    /// The digest of the cover itself, with the size if this is a smaller one.
    private let tag: String
    private let length: Int
    private let source: Source

    /// A cached cover; nil if there is none with this digest.
    /// - Parameter size: nil for the cover as it is.
    /// - Throws: `CoverFailure` if it cannot be read.
    static func cached(_ digest: String, _ size: KeptSize?, in library: LibraryAPI) async throws -> SentCover? {
        if let size {
            guard let cover = try await library.cachedCover(digest: digest, longestSide: size.longestSide) else {
                return nil
            }
            if cover.digest != digest { return try SentCover(cover, of: digest, size) }
        }
        return try await library.cachedFile(digest: digest).map(SentCover.init)
    }

    private init(_ file: CachedFile) {
        (mediaType, tag, length, source) = (file.mediaType, "\"\(file.digest)\"", file.count, .cached(file))
    }

    /// A cover that has no file.
    /// - Parameter digest: Of the cover itself, of which this may be a smaller size.
    /// - Throws: `SystemError` if a large one cannot be written to a temporary file.
    private init(_ cover: Cover, of digest: String, _ size: KeptSize?) throws {
        (mediaType, length) = (cover.mediaType, cover.data.count)
        tag = size?.tag(of: cover, digest: digest) ?? "\"\(digest)\""
        source =
            try length <= Self.largestHeld
            ? .held(Array(cover.data)) : .temporary(TemporaryFile(cover.data))
    }

    /// A cover that is not in the cache, made smaller now if that is wanted.
    static func made(_ cover: Cover, _ size: KeptSize?) async throws -> SentCover {
        let made = await WorkThread.run {
            size.map { cover.resized(longestSide: $0.longestSide) } ?? cover
        }
        return try SentCover(made, of: cover.digest, size)
    }

    func response(to request: Request, cacheControl: String) -> Response {
        .file(
            body, type: mediaType, tag: tag, for: request,
            [.cacheControl: cacheControl, .contentSecurityPolicy: Self.policy])
    }

    /// An SVG opened by itself is a document: it gets no scripts, no network and no origin.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    private var body: Response.Body {
        switch source {
        case .held(let bytes): .bytes(bytes)
        case .cached(let file): .pieces(count: length) { Array(try file.read(at: $0, count: $1)) }
        case .temporary(let temporary): .pieces(count: length) { try temporary.file.bytes(at: $0, count: $1) }
        }
    }
}
