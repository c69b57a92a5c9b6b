import CoverLibrary
import HTTPTypes
import Platform
import WebServer

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
