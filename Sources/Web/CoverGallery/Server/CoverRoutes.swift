import AlbumLibrary
import CoverLibrary
import Files
import HTTPTypes
import Platform
import WebServer

/// The covers' bytes, from the cache or a file beside the music, and users' own pictures. Missing covers are downloaded through `PageRoutes`.
///
/// A cover's path ends in its digest: it needs neither the library file nor a URL, and its response never changes. Pages learn which
/// album has which digest from `PageRoutes`.
///
/// With `?w=300` it is the cover in a smaller size, one of `LibraryAPI.keptSizes`, or as it is if it cannot be made smaller.
struct CoverRoutes: Sendable {
    let model: GalleryModel

    func add(to routes: inout Routes) {
        routes.get("covers/{digest}") { request, parameters in try await cover(request, parameters["digest"]) }
        let limit = model.library.configuration.maximumSize
        routes.post("api/pictures", limit: .init(limit, message: "the picture is larger than \(limit >> 10) KiB")) {
            request, _ in
            try await storePicture(request)
        }
    }

    /// - Throws: `HTTPError`: 404 unless the path ends in the digest of a cached cover, 400 if the size is none that is kept.
    private func cover(_ request: Request, _ digest: String) async throws -> Response {
        let size = try KeptSize.wanted(by: request)
        var cover = try await SentCover.cached(digest, size, in: model.library)
        if cover == nil { cover = try await file(digest, size) }
        guard let cover else { throw HTTPError(.notFound, message: "this cover is not in the cache") }
        // The path names these bytes for ever (RFC 8246).
        return cover.response(
            to: request, cacheControl: "private, max-age=31536000, immutable")
    }

    private func file(_ digest: String, _ size: KeptSize?) async throws -> SentCover? {
        guard let cover = await model.albums.files.cover(digest: digest) else { return nil }
        return try await .made(cover, size)
    }

    /// Keeps a user's own picture. It is not an album's cover before an edit sets the address that this responds with.
    private func storePicture(_ request: Request) async throws -> Response {
        try request.require("application/octet-stream")
        guard let pictures = model.library.albums.pictures else {
            throw LibraryError.invalidConfiguration("there is no library file")
        }
        let upload = try pictures.begin()
        try await WorkThread.run { try upload.append(request.body) }
        try await keep(upload)
        return .json(status: .created) { $0.add("coverUrl", upload.address) }
    }

    /// Keeps a picture that has arrived, and copies it to the cache if that has room.
    private func keep(_ upload: PictureUpload) async throws {
        let picture = try await WorkThread.run {
            let picture = try URL(string: upload.address).flatMap { Cover(url: $0, data: Data(try upload.contents())) }
            guard let picture else { throw HTTPError(.unprocessableContent, message: "the file isn’t a picture") }
            try upload.keep(mediaType: picture.mediaType)
            return picture
        }
        _ = try? await model.library.store(picture.data, for: picture.url)
    }
}

/// `cover?url=URL`, for other programs: the cover at a URL, from the cache, else downloaded and stored. `&w=300` as for `covers/DIGEST`.
struct CoverByURLRoute: Sendable {
    static let path = "cover"
    let library: LibraryAPI
    /// Whether it may connect to addresses that are not on the open Internet.
    let allowsPrivateAddresses: Bool

    func add(to routes: inout Routes) {
        routes.get("cover") { request, _ in try await cover(request) }
    }

    private func cover(_ request: Request) async throws -> Response {
        guard let url = Self.url(in: request), !url.isEmpty else {
            throw HTTPError(.badRequest, message: "needs a cover's URL, percent-encoded: cover?url=https%3A%2F%2F…")
        }
        let size = try KeptSize.wanted(by: request)
        let cover: Cover
        do throws(CoverFailure) {
            if let fresh = try await freshCover(at: url, size, request) { return fresh }
            cover = try await self.cover(at: url, request.client)
        } catch {
            return Self.response(to: error)
        }
        if let cached = try await SentCover.cached(cover.digest, size, in: library) {
            let status = try await status(of: url)
            return cached.response(
                to: request,
                cacheControl: Self.cacheControl(status.flatMap { $0.digest == cover.digest ? $0 : nil }))
        }
        // Its server forbids storing it.
        return try await SentCover.made(cover, size)
            .response(to: request, cacheControl: "no-store")
    }

    /// The URL as forms encode it, where a space is `+` (URL Standard, section 5.1): so do curl's `--data-urlencode`, Python and browsers.
    private static func url(in request: Request) -> String? {
        let parts = (request.query ?? "").split(separator: "&")
        guard let part = parts.first(where: { $0.hasPrefix("url=") }) else { return nil }
        let text = part.dropFirst(4).utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decoded(text), as: UTF8.self)
    }

    /// Sends a cached cover from its file, without holding its bytes; nil if there is none, or none that is fresh.
    private func freshCover(
        at url: String, _ size: KeptSize?, _ request: Request
    ) async throws(CoverFailure) -> Response? {
        guard let status = try await status(of: url), !status.isStale else { return nil }
        do {
            let cached = try await SentCover.cached(status.digest, size, in: library)
            return cached?.response(
                to: request, cacheControl: Self.cacheControl(status))
        } catch let failure as CoverFailure {
            throw failure
        } catch {
            return nil
        }
    }

    /// - Throws: `CoverFailure`, for a URL that is none, too.
    private func status(of url: String) async throws(CoverFailure) -> CoverStatus? {
        let request = CoverRequest(location: url)
        _ = try library.keys(of: request)
        return try await library.statuses(of: [request])[0]
    }

    /// How long a client waits for a cover's server.
    private static let deadline = Duration.seconds(30)

    private func cover(at url: String, _ client: ClientPresence) async throws(CoverFailure) -> Cover {
        var request = CoverRequest(location: url)
        request.deniesPrivateAddresses = !allowsPrivateAddresses
        request.timeout = Self.deadline
        return try await client.whileConnected { [library, request] () async -> Result<Cover, CoverFailure> in
            do throws(CoverFailure) {
                return .success(try await library.cover(for: request))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func cacheControl(_ status: CoverStatus?) -> String {
        guard let status, !status.isStale, let end = status.freshUntil else { return "private, no-cache" }
        let seconds = Int(end.timeIntervalSinceNow)
        return seconds > 0 ? "private, max-age=\(seconds)" : "private, no-cache"
    }

    private static func response(to failure: CoverFailure) -> Response {
        let status = HTTPResponse.Status(code: failure.gatewayStatus)
        var response = Response.json(status: status) {
            $0.add("error", failure.message)
            $0.add("kind", failure.kind.rawValue)
            $0.add("status", failure.status)
        }
        if status == .serviceUnavailable, let pause = failure.retryAfter {
            response.headers[.retryAfter] = "\(pause.components.seconds + 1)"
        }
        return response
    }
}

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
        let request = CoverRequest(digest: digest)
        if let size {
            guard let cover = try await library.cachedCover(for: request, longestSide: size.longestSide) else {
                return nil
            }
            if cover.digest != digest { return try SentCover(cover, of: digest, size) }
        }
        return try await library.cachedFile(for: request).map(SentCover.init)
    }

    private init(_ file: CachedFile) {
        (mediaType, tag, length, source) = (file.mediaType, "\"\(file.digest)\"", file.bytes, .cached(file))
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
        case .cached(let file): .pieces(count: length) { Array(try file.read($0..<$0 + $1)) }
        case .temporary(let temporary): .pieces(count: length) { try temporary.file.bytes(at: $0, count: $1) }
        }
    }
}

/// A size that the cache keeps, as clients of a server name it: `covers/DIGEST?w=300`.
struct KeptSize: Sendable, Hashable {
    /// In pixels; one of `LibraryAPI.keptSizes`.
    let longestSide: Int

    /// - Parameter text: the value of `w`. Nil if it is none of the kept sizes.
    private init?(_ text: some StringProtocol) {
        guard let side = Int(text), LibraryAPI.keptSizes.contains(side) else { return nil }
        longestSide = side
    }

    /// What a client is told that names another size.
    private static let expected =
        "w must be one of \(LibraryAPI.keptSizes.map(String.init).joined(separator: ", "))"

    /// The entity tag (RFC 9110 section 8.8.3) of a response with `cover`, which is the cover with `digest` in this size, or as it is.
    func tag(of cover: Cover, digest: String) -> String {
        // A size is not the bytes that the digest names.
        cover.digest == digest ? "\"\(digest)\"" : "\"\(digest)-\(longestSide)\""
    }

    /// The size that a request wants; nil for the cover as it is.
    /// - Throws: `HTTPError` if it is none that is kept.
    static func wanted(by request: Request) throws -> KeptSize? {
        guard let text = request.parameter("w") else { return nil }
        guard let size = KeptSize(text) else { throw HTTPError(.badRequest, message: expected) }
        return size
    }
}
