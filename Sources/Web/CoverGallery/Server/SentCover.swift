import CoverLibrary
import Files
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import Platform

/// A cover on its way to a client: in a file that is read as the client takes it, or in memory if it is small. So a client that reads slowly
/// holds one piece of it.
struct SentCover: Sendable {
    private enum Source: Sendable {
        case held(ByteBuffer)
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
    private static let largestHeld = 256 << 10, piece = 64 << 10

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
            ? .held(ByteBuffer(bytes: cover.data)) : .temporary(TemporaryFile(cover.data))
    }

    /// A cover that is not in the cache, made smaller now if that is wanted.
    static func made(_ cover: Cover, _ size: KeptSize?) async throws -> SentCover {
        let made = try await NIOThreadPool.singleton.runIfActive {
            size.map { cover.resized(longestSide: $0.longestSide) } ?? cover
        }
        return try SentCover(made, of: cover.digest, size)
    }

    func response(to request: Request, on channel: any Channel, cacheControl: String) -> Response {
        .file(
            body(on: channel), type: mediaType, tag: tag, for: request,
            [.cacheControl: cacheControl, .contentSecurityPolicy: Self.policy])
    }

    /// An SVG opened by itself is a document: it gets no scripts, no network and no origin.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    private func body(on channel: any Channel) -> ResponseBody {
        ResponseBody(contentLength: length) { writer in
            var offset = 0
            while offset < length {
                let piece = try await read(at: offset)
                // The file is shorter than it was: the client must not take what it has for the whole.
                guard piece.readableBytes > 0 else { throw HTTPError(.internalServerError) }
                offset += piece.readableBytes
                try await writer.write(piece)
                // The next write waits for room: the event loop has to know of this one.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
        }
    }

    private func read(at offset: Int) async throws -> ByteBuffer {
        let count = min(length - offset, Self.piece)
        switch source {
        case .held(let bytes): return bytes.getSlice(at: bytes.readerIndex + offset, length: count) ?? ByteBuffer()
        case .cached(let file):
            return try await NIOThreadPool.singleton.runIfActive {
                ByteBuffer(bytes: try file.read(at: offset, count: count))
            }
        case .temporary(let temporary):
            return try await NIOThreadPool.singleton.runIfActive {
                ByteBuffer(bytes: try temporary.file.bytes(at: offset, count: count))
            }
        }
    }
}
