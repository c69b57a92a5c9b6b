import CoverLibrary
import HTTPTypes
import Hummingbird

/// What a page shows, what it is told, and the prefetch it can start.
struct LiveRoutes: Sendable {
    let hall: Hall

    func add(to router: Router<BasicRequestContext>) {
        router.post("/api/covers") { request, _ in try await show(request) }
        router.get("/api/covers") { _, _ in try await cached() }
        router.get("/api/events") { request, _ in try await events(request) }
        router.post("/api/prefetch") { _, _ in
            if await hall.prefetch.start() { return Response(status: .accepted) }
            return .problem("a prefetch is running already", status: .conflict)
        }
        router.delete("/api/prefetch") { _, _ in
            await hall.prefetch.stop()
            return Response(status: .noContent)
        }
    }

    private struct Shown: Decodable {
        var page: String
        var view: [String]
        var near: [String]?
        var again: [String]?
    }

    private func show(_ request: Request) async throws -> Response {
        let shown = try await request.json(Shown.self, limit: 256 << 10)
        let near = shown.near ?? []
        guard Self.isPageID(shown.page), shown.view.count + near.count <= 400 else {
            return .problem("needs a page's id, and at most 400 covers", status: .badRequest)
        }
        guard
            let states = try await hall.pages.show(
                shown.view, near: near, again: shown.again ?? [], on: shown.page)
        else { return .problem("too many pages are open", status: .serviceUnavailable) }
        var covers = JSONObject()
        for (id, state) in states { covers.add(id, raw: state.json) }
        var object = JSONObject()
        object.add("covers", raw: covers.text)
        return .json(object.text)
    }

    /// The covers of the library that are in the cache, for a browser that keeps all of them.
    private func cached() async throws -> Response {
        let keys = try await hall.catalogue.keys(of: try await hall.library.albums.current().albums.map(\.id))
        let keyed = keys.compactMap { id, key in (try? key.get()).map { (id, $0) } }
        var covers = JSONObject()
        for ((id, _), cached) in zip(keyed, try hall.library.cachedVersions(of: keyed.map(\.1))) {
            guard let cached else { continue }
            var cover = JSONObject()
            cover.add("version", CoverVersion.of(cached.digest))
            cover.add("bytes", cached.bytes)
            covers.add(id, raw: cover.text)
        }
        var object = JSONObject()
        object.add("covers", raw: covers.text)
        return .json(object.text)
    }

    private func events(_ request: Request) async throws -> Response {
        let page = request.uri.queryParameters["page"].map(String.init) ?? ""
        guard Self.isPageID(page) else { return .problem("needs a page's id", status: .badRequest) }
        guard let mailbox = await hall.connect(page) else {
            return .problem("too many pages are open", status: .serviceUnavailable)
        }
        // The body is empty; reading on is how a closed connection is noticed.
        let body = request.body
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .init { writer in
                do {
                    try await body.consumeWithCancellationOnInboundClose { _ in
                        while let text = await mailbox.next() { try await writer.write(ByteBuffer(string: text)) }
                    }
                    try await writer.finish(nil)
                } catch {
                    await hall.pages.leave(page, mailbox)
                    throw error
                }
                await hall.pages.leave(page, mailbox)
            })
    }

    private static func isPageID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isLetterOrDigit }
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
