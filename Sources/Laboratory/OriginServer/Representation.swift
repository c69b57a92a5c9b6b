import HTTPCaching
import HTTPTypes
import Platform

/// The bytes of a resource and their metadata (RFC 9110 §3.2).
struct Representation: Sendable {
    let bytes: [UInt8]
    let mediaType: String
    // What conditional requests refer to (RFC 9110 §8.8) depends on the resource alone.
    /// A strong entity tag with its quotes.
    let entityTag: String
    /// Seconds since 1970, in the three years after 2020-01-01.
    let lastModified: Int64

    private init(_ bytes: [UInt8], _ mediaType: String, name: String, hash: UInt64) {
        (self.bytes, self.mediaType) = (bytes, mediaType)
        entityTag = "\"\(name)-\(bytes.count)\""
        lastModified = 1_577_836_800 + Int64(SplitMix64.mix(hash) % 100_000_000)
    }

    init(of resource: Resource, _ options: ResponseOptions) {
        switch resource {
        case .help:
            self.init(Array(HelpPage.text.utf8), "text/plain; charset=utf-8", name: "help", hash: 0)
        case .jpeg(let number):
            let number = options.coverNumber ?? number
            let bytes = CoverImage.jpeg(number: number, aboutBytes: options.size)
            self.init(bytes, "image/jpeg", name: "c\(number)", hash: UInt64(number))
        case .png(let number):
            let number = options.coverNumber ?? number
            let bytes = CoverImage.png(number: number, aboutBytes: options.size ?? 0)
            self.init(bytes, "image/png", name: "p\(number)", hash: UInt64(number))
        case .starter(let slug):
            let hash = FNV1a.hash(slug.utf8)
            let cover = EmbeddedCover.all.first { $0.slug == slug }
            if let cover, options.coverNumber == nil, options.size == nil {
                self.init(cover.images[0], "image/jpeg", name: "s\(slug)", hash: hash)
            } else {
                self.init(of: .jpeg(Int(hash >> 1)), options)
            }
        }
    }

    /// Evaluates `If-None-Match`, or `If-Modified-Since` without it (RFC 9110 §13.2.2). True means 304.
    func isNotModified(_ request: HTTPFields) -> Bool {
        if let tags = request[.ifNoneMatch] { return EntityTags([tags]).contains(entityTag) }
        guard let date = request[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) else { return false }
        return lastModified <= date
    }
}

/// A response that is decided but not sent.
struct OriginResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: Body
    /// The body is sent without a length.
    var isChunked = false
    /// The delay before the first byte.
    var delay: Duration = .zero
    /// The response waits for `Origin.release()`.
    var isHeld = false

    enum Body: Sendable {
        case none
        /// Sends the bytes; nil sends them without a limit.
        case bytes([UInt8], perSecond: Int?)
        /// Sends the bytes and closes the connection, whatever length `Content-Length` announces.
        case bytesThenClose([UInt8])
        /// Sends the bytes and then filler until the client closes the connection.
        case endless([UInt8], perSecond: Int?)
        /// Resets the connection (RST). Nothing is sent.
        case reset
        /// Closes the connection (FIN). Nothing is sent.
        case close
        /// Sends nothing and keeps the connection open.
        case never
    }

    init(_ status: Int, _ headers: HTTPFields = [:], _ body: Body = .none) {
        self.status = .init(code: status)
        self.headers = headers
        self.body = body
    }

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> OriginResponse {
        OriginResponse(status, [.contentType: type], .bytes(Array(text.utf8), perSecond: nil))
    }

    /// The response to HEAD: the server sends no body, but its length. Faults that send nothing stay as they are.
    consuming func withoutBody() -> OriginResponse {
        switch body {
        case .bytes(let bytes, _), .bytesThenClose(let bytes), .endless(let bytes, _):
            body = .bytes(bytes, perSecond: nil)
        case .none, .reset, .close, .never: break
        }
        isChunked = false
        return self
    }
}

/// The resource of a path that is not one of the archive's.
enum Resource: Sendable, Equatable {
    case help
    case jpeg(Int)
    case png(Int)
    /// A starter album's cover. A slug that no starter album has identifies a generated cover.
    case starter(slug: String)

    /// Returns nil if the path identifies no resource.
    init?(path: Substring) {
        if path == "/" {
            self = .help
        } else if path.hasPrefix("/covers/"), let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) {
            let digits = path.utf8[path.utf8.index(path.startIndex, offsetBy: 8)..<dot]
            // `Int` also accepts a sign.
            guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(Substring(digits))
            else { return nil }
            switch path[dot...] {
            case ".jpg", ".jpeg": self = .jpeg(number)
            case ".png": self = .png(number)
            default: return nil
            }
        } else if path.hasPrefix("/starter/"), path.hasSuffix(".jpg") {
            let slug = path.dropFirst(9).dropLast(4)
            guard (1...100).contains(slug.utf8.count), slug.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
                return nil
            }
            self = .starter(slug: String(slug))
        } else {
            return nil
        }
    }
}
