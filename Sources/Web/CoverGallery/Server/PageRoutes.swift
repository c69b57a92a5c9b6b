import AlbumLibrary
import CoverLibrary
import HTTPTypes
import WebServer

/// The covers a page shows, its events, and the prefetch it can start.
struct PageRoutes: Sendable {
    /// In bytes.
    private static let largestList = 64 << 20
    private static let maximumCovers = 2_000
    let model: GalleryModel

    func add(to routes: inout Routes) {
        routes.post("api/covers", limit: .init(256 << 10)) { request, _ in try await show(request) }
        routes.get("api/events") { request, _ in try await events(request) }
        // The body of a HEAD is not written, so nothing would end its session's stream.
        routes.add(.head, "api/events") { _, _ in
            var response = Response.problem("events have no HEAD", status: .methodNotAllowed)
            response.headers[.allow] = "GET"
            return response
        }
        routes.post("api/prefetch") { _, _ in
            if await model.prefetch.start() { return Response(status: .accepted) }
            throw HTTPError(.conflict, message: "a prefetch is running already")
        }
        routes.add(.delete, "api/prefetch") { _, _ in
            await model.prefetch.stop()
            return Response(status: .noContent)
        }
        routes.post("api/runs/{name}") { request, parameters in
            try await start(parameters["name"], request.json(RunWishes.self))
        }
        routes.post("api/lists", limit: .init(Self.largestList)) { request, _ in
            try request.require("application/octet-stream")
            return try await start("import", RunWishes(list: request.body))
        }
        routes.add(.delete, "api/runs") { _, _ in
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
        let shown = try request.json(Shown.self)
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
        let page = request.parameter("page") ?? ""
        guard Self.isPageID(page) else { throw HTTPError(.badRequest, message: "needs a page's id") }
        guard let events = await model.sessions.connect(page) else { throw Self.tooManyPages }
        request.client.onLeave { events.close() }
        let stream = BodyStream()
        Task {
            for await text in events.batches {
                guard await stream.write(Array(text.utf8)) else { break }
            }
            stream.finish()
            await model.sessions.disconnect(page, events)
        }
        return Response(
            status: .ok,
            // nginx passes an event on immediately instead of collecting a buffer of them.
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no",
                .connection: "close",
            ],
            body: .stream(stream))
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
