import HTTPCaching
import HTTPTypes
import WebServer

/// Decides the response to a request. It performs no I/O and never waits; `OriginResponder` does both.
struct ResponsePlanner: Sendable {
    private let options: OriginOptions
    /// Requests with `times=` by path and query.
    private let attempts = KeyedCounter()

    init(_ options: OriginOptions) { self.options = options }

    /// - Parameter number: the request's number, from 1.
    func response(to request: Request, number: Int) -> OriginResponse {
        guard request.method == .get || request.method == .head else {
            var response = OriginResponse.text(405, "only GET and HEAD are allowed\n")
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        var options = ResponseOptions(options, number: number)
        let path = request.path[...]
        if let archive = ArchivePath(path) {
            var response = archive.response
            response.delay = options.delay
            return response
        }
        guard let resource = Resource(path: path) else { return .text(404, "no resource at \(path)\n") }
        do {
            if let query = request.query { try options.apply(query: query[...]) }
        } catch {
            return .text(400, "\(error)\n")
        }
        if let failures = options.failures, attempts.increment(request.target) > failures {
            options.fault = nil
            options.status = nil
        }
        var response = response(to: request, resource, options)
        for field in options.fields { response.headers.append(field) }
        response.delay = options.delay
        response.isHeld = options.isHeld
        return request.method == .head ? response.withoutBody() : response
    }

    private func response(
        to request: Request, _ resource: Resource, _ options: ResponseOptions
    ) -> OriginResponse {
        // The help page is served even if every request fails.
        if resource != .help {
            if let fault = options.fault { return response(to: request, resource, options, fault: fault) }
            if let status = options.status, !(200...299).contains(status) { return error(status, options) }
            if let target = redirectTarget(of: request, options) { return redirect(to: target, options) }
        }
        return success(request, Representation(of: resource, options), options)
    }

    private func success(
        _ request: Request, _ cover: Representation, _ options: ResponseOptions
    ) -> OriginResponse {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .eTag, value: cover.entityTag))
        fields.append(HTTPField(name: .lastModified, value: HTTPDate.text(cover.lastModified)))
        if !options.cacheControl.isEmpty {
            fields.append(HTTPField(name: .cacheControl, value: options.cacheControl))
        }
        // The server sends no body with a 304, but its length.
        if cover.isNotModified(request.headers) {
            return OriginResponse(304, fields, .bytes(cover.bytes, perSecond: nil))
        }

        fields.append(HTTPField(name: .contentType, value: cover.mediaType))
        let status = options.status ?? 200
        if status == 204 || status == 205 { return OriginResponse(status, fields) }
        var response = OriginResponse(status, fields, .bytes(cover.bytes, perSecond: options.bytesPerSecond))
        response.isChunked = options.isChunked
        return response
    }

    private func error(_ status: Int, _ options: ResponseOptions) -> OriginResponse {
        var response = status == 304 ? OriginResponse(304) : .text(status, "status \(status)\n")
        if let retryAfter = options.retryAfter { response.headers[.retryAfter] = retryAfter }
        if let target = options.redirectTarget { response.headers[.location] = target }
        return response
    }

    private func redirect(to target: String, _ options: ResponseOptions) -> OriginResponse {
        OriginResponse(options.redirectStatus, [.location: target])
    }

    /// The other URL, or the same one with one redirect less; nil without redirects.
    private func redirectTarget(of request: Request, _ options: ResponseOptions) -> String? {
        if let target = options.redirectTarget { return target }
        guard options.redirects > 0, let query = request.query else { return nil }
        let parameters = query.split(separator: "&").map {
            $0.hasPrefix("redirect=") ? "redirect=\(options.redirects - 1)" : $0
        }
        return "\(request.path)?\(parameters.joined(separator: "&"))"
    }

    private func response(
        to request: Request, _ resource: Resource, _ options: ResponseOptions, fault: OriginFault
    ) -> OriginResponse {
        switch fault {
        case .reset: OriginResponse(200, [:], .reset)
        case .close: OriginResponse(200, [:], .close)
        case .never: OriginResponse(200, [:], .never)
        case .html: .text(200, HelpPage.portal, type: "text/html; charset=utf-8")
        case .json: .text(200, #"{"error":"no cover here"}"#, type: "application/json")
        case .quota: .text(200, #"{"error":"rate limit exceeded"}"#, type: "application/json")
        case .loop: redirect(to: request.target, options)
        case .truncate, .wrongLength, .excess, .empty, .endless:
            damaged(Representation(of: resource, options), options, fault)
        }
    }

    /// A response with a cover's fields and a wrong length or body.
    private func damaged(_ cover: Representation, _ options: ResponseOptions, _ fault: OriginFault) -> OriginResponse {
        var fields: HTTPFields = [.contentType: cover.mediaType, .eTag: cover.entityTag]
        var bytes = cover.bytes
        let length = bytes.count
        switch fault {
        case .truncate:
            bytes.removeLast(length - length / 2)
            fields[.contentLength] = String(length)
        case .wrongLength: fields[.contentLength] = String(length + 1000)
        case .excess: fields[.contentLength] = String(length / 2)
        case .empty:
            return OriginResponse(200, fields)
        default: return OriginResponse(200, fields, .endless(bytes, perSecond: options.bytesPerSecond))
        }
        return OriginResponse(200, fields, .bytesThenClose(bytes))
    }
}

/// A path of the Cover Art Archive's API (musicbrainz.org/doc/Cover_Art_Archive/API), such as
/// `/release/{uuid}/front-500`, which redirects to a cover. Each id has its own cover, except ids that end in 404.
struct ArchivePath: Sendable, Equatable {
    private let id: Substring
    /// `front`, `front-250`, `front-500` or `front-1200`.
    private let image: Substring

    /// Returns nil if the path is not one of the archive's.
    init?(_ path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, ["release", "release-group"].contains(parts[1]) else { return nil }
        (id, image) = (parts[2], parts[3])
    }

    /// 307 to the cover, 404 if there is none, or 400 if the id is not a UUID.
    var response: OriginResponse {
        guard isUUID else { return .text(400, "invalid MBID specified\n") }
        guard let size = Self.sizes[image], !id.hasSuffix("404") else {
            return .text(404, "No cover image found for release with identifier \(id)\n")
        }
        let number = Int(id.suffix(5), radix: 16) ?? 0
        return OriginResponse(307, [.location: "/covers/\(number).jpg?size=\(size)"])
    }

    /// The covers' lengths in bytes.
    private static let sizes: [Substring: Int] = [
        "front": 200_000, "front-250": 10_000, "front-500": 30_000, "front-1200": 90_000,
    ]

    /// The archive accepts lower case only.
    private var isUUID: Bool {
        id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
            && id.allSatisfy { $0 == "-" || ("0"..."9").contains($0) || ("a"..."f").contains($0) }
    }
}

/// The origin's text pages.
enum HelpPage {
    static let text = """
        Sleeve's origin serves covers, latency and faults on demand.

          /covers/N.jpg       a generated cover, always the same for the same N: 8 to 250 KB, 31 KB on average
          /covers/N.png       a small PNG
          /starter/SLUG.jpg   a starter album's cover of 600×600 pixels, such as low-tide. Any other SLUG, and any SLUG
                              with size=BYTES, gives a generated cover, always the same for the same SLUG

        Query parameters:

          size=BYTES          the length of the body, at most three bytes shorter
          delay=MS            the delay before the response
          rate=BYTES          the body's bytes per second
          status=CODE         the status (retry-after=VALUE adds Retry-After)
          fault=NAME          \(OriginFault.names)
          times=N             only the first N requests with the same path and query fail
          redirect=N          N redirects before the cover (redirect-status=301, 302, 303, 307 or 308)
          to=URL              a redirect to another URL
          chunked=1           no Content-Length
          cache-control=VALUE the Cache-Control field
          same=M              the bytes of cover M
          field=NAME:VALUE    an additional field

        The Cover Art Archive's API (musicbrainz.org/doc/Cover_Art_Archive/API), for `--cover-art-archive`:

          /release/UUID/front         307 to a cover, also front-250, front-500, front-1200; 404 for ids that end in 404
          /release-group/UUID/front   the same

        /counts reports the requests so far, how many of them were answered 429, how many are in flight, and the
        connections.

        Covers have ETag and Last-Modified. If-None-Match and If-Modified-Since are supported.

        """

    /// A captive portal's page.
    static let portal = """
        <!DOCTYPE html>
        <html><head><title>Welcome</title></head><body><h1>Please sign in to the network</h1></body></html>

        """
}
