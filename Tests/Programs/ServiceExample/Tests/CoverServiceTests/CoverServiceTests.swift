import CoverLibrary
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import CoverService

/// The service without a network: its library sends requests to a double.
@Suite(.timeLimit(.minutes(10))) struct CoverServiceTests {
    struct Covers: CoverTransport {
        static let image = Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"2\"/>".utf8)

        func response(to request: TransportRequest) async throws -> TransportResponse {
            if request.url.path == "/none" { return TransportResponse(status: 404) }
            return TransportResponse(headerFields: [.cacheControl: "max-age=60"], body: Self.image)
        }
    }

    private func withClient(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await LibraryAPI.withTemporaryLibrary(transport: Covers()) { library in
            try await Application(router: CoverRoutes(library: library).router()).test(.router, body)
        }
    }

    @Test func `a cover is downloaded once, and its tag saves the body`() async throws {
        try await withClient { client in
            let uri = "/cover?url=https%3A%2F%2Fcovers.example%2F1"
            let status = "/status?url=https%3A%2F%2Fcovers.example%2F1"
            #expect(try await client.execute(uri: status, method: .get).status == .notFound)
            let first = try await client.execute(uri: uri, method: .get)
            #expect(first.status == .ok && Array(first.body.readableBytesView) == Array(Covers.image))
            #expect(first.headers[.contentType] == "image/svg+xml")
            let tag = try #require(first.headers[.eTag])
            let again = try await client.execute(uri: uri, method: .get, headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            #expect(try await client.execute(uri: status, method: .get).status == .ok)
        }
    }

    @Test(arguments: [("none", 404), ("1&size=17", 400)]) func `a failure has the status that says what it is`(
        path: String, status: Int
    ) async throws {
        try await withClient { client in
            let response = try await client.execute(
                uri: "/cover?url=https%3A%2F%2Fcovers.example%2F\(path)", method: .get)
            #expect(response.status.code == status)
        }
    }

    @Test func `a request without a URL is a bad one`() async throws {
        try await withClient { client in
            let response = try await client.execute(uri: "/cover", method: .get)
            #expect(response.status == .badRequest)
        }
    }
}
