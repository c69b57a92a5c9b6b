import CoverLibrary
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

@testable import CoverService

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The service on a port of its own. Its library sends requests to a double.
@Suite(.timeLimit(.minutes(10))) struct CoverServiceTests {
    struct Covers: CoverTransport {
        static let image = Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"2\"/>".utf8)

        func response(to request: TransportRequest) async throws -> TransportResponse {
            if request.url.path == "/none" { return TransportResponse(status: 404) }
            return TransportResponse(headerFields: [.cacheControl: "max-age=60"], body: Self.image)
        }
    }

    struct Answer {
        var status: Int
        var fields: [String: String]
        var body: Data
    }

    /// Runs `body` with what asks the running service, and ends the service.
    private func withService(
        _ body: (_ get: (_ path: String, _ tag: String?) async throws -> Answer) async throws -> Void
    ) async throws {
        try await LibraryAPI.withTemporaryLibrary(transport: Covers()) { library in
            let (ports, port) = AsyncStream.makeStream(of: Int.self)
            let application = Application(
                router: CoverRoutes(library: library).router(),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { port.yield($0.localAddress?.port ?? 0) })
            let group = ServiceGroup(services: [application], logger: Logger(label: "covers"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    defer { port.finish() }
                    try await group.run()
                }
                for await number in ports {
                    try await body { path, tag in try await Self.get("http://127.0.0.1:\(number)\(path)", tag) }
                    await group.triggerGracefulShutdown()
                }
                try await tasks.waitForAll()
            }
        }
    }

    private static func get(_ url: String, _ tag: String?) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue(tag, forHTTPHeaderField: "If-None-Match")
        let (body, response) = try await URLSession(configuration: .ephemeral).data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        let fields = answer.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
        return Answer(status: answer.statusCode, fields: Dictionary(fields) { $1 }, body: body)
    }

    @Test func `a cover is downloaded once, and its tag saves the body`() async throws {
        try await withService { get in
            let query = "?url=https%3A%2F%2Fcovers.example%2F1"
            #expect(try await get("/status" + query, nil).status == 404)
            let first = try await get("/cover" + query, nil)
            #expect(first.status == 200 && first.body == Covers.image)
            #expect(first.fields["content-type"] == "image/svg+xml")
            let again = try await get("/cover" + query, try #require(first.fields["etag"]))
            #expect(again.status == 304 && again.body.isEmpty)
            #expect(try await get("/status" + query, nil).status == 200)
        }
    }

    @Test(arguments: [("none", 404), ("1&size=17", 400)]) func `a failure has the status that says what it is`(
        path: String, status: Int
    ) async throws {
        try await withService { get in
            let answer = try await get("/cover?url=https%3A%2F%2Fcovers.example%2F\(path)", nil)
            #expect(answer.status == status)
        }
    }

    @Test func `a request without a URL is a bad one`() async throws {
        try await withService { get in
            let answer = try await get("/cover", nil)
            #expect(answer.status == 400)
        }
    }
}
