import AlbumLibrary
import CoverLibrary
import HTTPTypes
import Hummingbird

/// The covers a page shows, its events, and the prefetch it can start.
struct PageRoutes: Sendable {
    /// In bytes.
    private static let largestList = 64 << 20
    private static let maximumCovers = 2_000
    let model: GalleryModel

    func add(to router: RouterGroup<GalleryContext>) {
        router.post("/api/covers") { request, _ in try await show(request) }
        router.get("/api/events") { request, _ in try await events(request) }
        // The body of a HEAD is not written, so nothing would end its session's stream.
        router.head("/api/events") { _, _ in
            var response = Response.problem("events have no HEAD", status: .methodNotAllowed)
            response.headers[.allow] = "GET"
            return response
        }
        router.post("/api/prefetch") { _, _ in
            if await model.prefetch.start() { return Response(status: .accepted) }
            throw HTTPError(.conflict, message: "a prefetch is running already")
        }
        router.delete("/api/prefetch") { _, _ in
            await model.prefetch.stop()
            return Response(status: .noContent)
        }
        router.post("/api/runs/{name}") { request, context in
            try await start(context.parameters.get("name") ?? "", request.json(RunWishes.self))
        }
        router.post("/api/lists") { request, _ in
            try request.require("application/octet-stream")
            let list = try await request.bytes(limit: Self.largestList)
            return try await start("import", RunWishes(list: Array(list.readableBytesView)))
        }
        router.delete("/api/runs") { _, _ in
            await model.runs.stop()
            return Response(status: .noContent)
        }
    }

    private func start(_ name: String, _ wishes: RunWishes) async throws -> Response {
        switch await model.runs.start(name, wishes) {
        case true?: return Response(status: .accepted)
        case false?: throw HTTPError(.conflict, message: "something else is running already")
        case nil: throw HTTPError(.notFound, message: "there is nothing of that name to run")
        }
    }

    private struct Shown: Decodable {
        var page: String
        var view: [String]
        var near, again: [String]?
    }

    private func show(_ request: Request) async throws -> Response {
        let shown = try await request.json(Shown.self, limit: 256 << 10)
        let (near, again) = (shown.near ?? [], shown.again ?? [])
        guard Self.isPageID(shown.page), shown.view.count + near.count + again.count <= Self.maximumCovers else {
            throw HTTPError(.badRequest, message: "needs a page's id, and at most \(Self.maximumCovers) covers")
        }
        let states = try await model.sessions.show(shown.view, near: near, again: again, on: shown.page)
        guard let states else { throw Self.tooManyPages }
        let covers = jsonText { for (id, state) in states { $0.add(id, raw: state.json) } }
        return .json { $0.add("covers", raw: covers) }
    }

    private func events(_ request: Request) async throws -> Response {
        let page = request.uri.queryParameters["page"].map(String.init) ?? ""
        guard Self.isPageID(page) else { throw HTTPError(.badRequest, message: "needs a page's id") }
        guard let events = await model.sessions.connect(page) else { throw Self.tooManyPages }
        // The body is empty; reading it detects a closed connection.
        let body = request.body
        return Response(
            status: .ok,
            // nginx passes an event on immediately instead of collecting a buffer of them.
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no"],
            body: .init { writer in
                do {
                    try await body.consumeWithCancellationOnInboundClose { _ in
                        for await text in events.batches { try await writer.write(ByteBuffer(string: text)) }
                    }
                    try await writer.finish(nil)
                } catch {
                    await model.sessions.disconnect(page, events)
                    throw error
                }
                await model.sessions.disconnect(page, events)
            })
    }

    private static var tooManyPages: HTTPError {
        HTTPError(.serviceUnavailable, message: "too many pages are open")
    }

    private static func isPageID(_ text: String) -> Bool {
        (8...64).contains(text.utf8.count)
            && text.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

extension HTTPField.Name {
    fileprivate static let xAccelBuffering = Self("X-Accel-Buffering")!
}
