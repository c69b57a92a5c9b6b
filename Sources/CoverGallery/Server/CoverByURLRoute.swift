import CoverLibrary
import HTTPTypes
import Hummingbird
import Platform
import ServerChannels

/// `cover?url=URL`, for other programs: the cover at a URL, from the cache, else downloaded and stored. `&w=300` as for `covers/DIGEST`.
struct CoverByURLRoute: Sendable {
    static let path = "cover"
    let library: LibraryAPI
    /// Whether it may connect to addresses that are not on the open Internet.
    let allowsPrivateAddresses: Bool

    func add(to router: RouterGroup<GalleryContext>) {
        router.get("/cover") { request, context in try await cover(request, context) }
    }

    private func cover(_ request: Request, _ context: GalleryContext) async throws -> Response {
        guard let url = request.uri.queryParameters["url"], !url.isEmpty else {
            throw HTTPError(.badRequest, message: "needs a cover's URL, percent-encoded: cover?url=https%3A%2F%2F…")
        }
        let size = try KeptSize.wanted(by: request)
        let cover: Cover
        do throws(CoverFailure) {
            cover = try await self.cover(at: String(url), context)
        } catch {
            return Self.response(to: error)
        }
        if let cached = try await SentCover.cached(cover.digest, size, in: library) {
            return cached.response(to: request, on: context.channel, cacheControl: try await cacheControl(for: cover))
        }
        // Its server forbids storing it.
        let small = size.flatMap { LibraryAPI.resized(cover.data, longestSide: $0.longestSide) }.map {
            Cover(url: cover.url, data: Data($0), mediaType: "image/jpeg")
        }
        return try SentCover(small ?? cover, of: cover.digest, size)
            .response(to: request, on: context.channel, cacheControl: "no-store")
    }

    private func cover(at url: String, _ context: GalleryContext) async throws(CoverFailure) -> Cover {
        var request = CoverRequest(url)
        request.deniesPrivateAddresses = !allowsPrivateAddresses
        typealias Outcome = Result<Cover, CoverFailure>
        return try await context.channel.whileConnected { [library, request] () async -> Outcome in
            do throws(CoverFailure) {
                return .success(try await library.cover(for: request))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private func cacheControl(for cover: Cover) async throws -> String {
        guard let status = try await library.statuses(of: [cover.key])[0], !status.isStale,
            status.digest == cover.digest, let end = status.freshUntil
        else { return "private, no-cache" }
        let seconds = (end - WallClock.milliseconds()) / 1_000
        return seconds > 0 ? "private, max-age=\(seconds)" : "private, no-cache"
    }

    private static func response(to failure: CoverFailure) -> Response {
        .json(status: status(of: failure)) {
            $0.add("error", failure.message)
            $0.add("kind", failure.kind.rawValue)
            $0.add("status", failure.status)
        }
    }

    private static func status(of failure: CoverFailure) -> HTTPResponse.Status {
        switch failure.kind {
        case .badURL: .badRequest
        case .refusedAddress: .forbidden
        case .status where failure.status == 404 || failure.status == 410: .notFound
        case .notCached: .notFound
        case .timeout, .offline: .gatewayTimeout
        case .cancelled, .outOfResources: .serviceUnavailable
        case .cache: .internalServerError
        default: .badGateway
        }
    }
}
