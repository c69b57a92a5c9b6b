import CurlHTTP
import HTTPCaching
package import HTTPTypes
import Synchronization

/// What a client of a mirror asks.
package struct MirrorRequest: Sendable {
    package var method: HTTPRequest.Method
    /// As it stands in the request line (RFC 9112 §3.2).
    package var target: String
    package var fields: HTTPFields
    /// Nil: the request has none.
    package var body: [UInt8]?

    package init(method: HTTPRequest.Method, target: String, fields: HTTPFields = [:], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// What it says to caches (RFC 9111 §5.2.1). `Pragma` counts where there is no `Cache-Control` (§5.4).
    var directives: CacheDirectives {
        var directives = CacheDirectives(fields)
        if !fields.contains(.cacheControl), CacheDirectives(fields[values: .pragma].joined(separator: ",")).noCache {
            directives.noCache = true
        }
        return directives
    }

    /// Whether a stored response may answer it: preconditions on the origin's own state are the origin's to judge
    /// (RFC 9110 §13.1.1, §13.1.4), and nobody knows what a GET with a body means (§9.3.1).
    var isCacheable: Bool {
        (method == .get || method == .head) && !fields.contains(.ifMatch) && !fields.contains(.ifUnmodifiedSince)
            && body?.isEmpty ?? true
    }

    /// RFC 9110 §9.2.1. A method nobody knows may change anything.
    var isSafe: Bool { [.get, .head, .options, .trace].contains(method) }
}

/// What a mirror answers.
package struct MirrorAnswer: Sendable {
    package var head: HTTPResponse
    /// Empty for HEAD, whatever `Content-Length` says.
    package var body: ArraySlice<UInt8>
    /// The body instead, where it is larger than what is kept.
    package var passing: PassingBody?

    init(status: Int, fields: HTTPFields, body: ArraySlice<UInt8> = [], passing: PassingBody? = nil) {
        head = HTTPResponse(status: .init(code: status), headerFields: fields)
        self.body = body
        self.passing = passing
    }

    /// The mirror's own words, one line.
    static func own(_ status: Int, _ text: String, _ cacheStatus: CacheStatus? = nil) -> MirrorAnswer {
        let body = Array((text + "\n").utf8)
        var fields: HTTPFields = [
            .contentType: "text/plain; charset=utf-8", .contentLength: String(body.count), .cacheControl: "no-store",
        ]
        if let cacheStatus { fields[.cacheStatus] = cacheStatus.text }
        return MirrorAnswer(status: status, fields: fields, body: body[...])
    }
}

/// A body that passes through, piece by piece, to one reader.
package final class PassingBody: Sendable {
    private let pipe: BodyPipe
    private let length = Atomic(0)
    private let whole: @Sendable (Int) -> Void
    private let over: @Sendable () -> Void

    /// - Parameters:
    ///   - whole: told the length once all has passed.
    ///   - over: called when nothing more passes, for whatever reason.
    init(pipe: BodyPipe, whole: @escaping @Sendable (Int) -> Void, over: @escaping @Sendable () -> Void) {
        self.pipe = pipe
        self.whole = whole
        self.over = over
    }

    deinit {
        pipe.abandon()
        over()
    }

    /// Nil at the end. - Throws: the origin's answer broke off.
    package func next() async throws -> [UInt8]? {
        let piece = try await pipe.next()
        if let piece {
            length.wrappingAdd(piece.count, ordering: .relaxed)
        } else {
            whole(length.load(ordering: .relaxed))
        }
        return piece
    }

    /// Nobody reads on.
    package func abandon() { pipe.abandon() }
}

extension HTTPField.Name {
    static let pragma = Self("Pragma")!
    static let cacheStatus = Self("Cache-Status")!
}
