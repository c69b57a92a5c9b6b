import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

/// Cookies of one chain of redirects (RFC 6265).
@Suite(.timeLimit(.minutes(5))) struct CookieTests {
    private static let answer: ScriptedServer.Answer = {
        switch $0.target {
        case "/sets":
            httpResponse(
                "302 Found",
                [
                    "Location: /next", "Set-Cookie: a=1; Path=/", "set-cookie: b=2; Path=/else",
                    "Set-Cookie: c=3; Path=/; Domain=example.org",
                ])
        case "/keeps": httpResponse("302 Found", ["Location: /next"])
        default: httpResponse("200 OK", ["Set-Cookie: late=1; Path=/"])
        }
    }

    private func send(
        _ client: HTTPClient, _ url: String, _ cookies: [String] = []
    ) async throws -> TransferResponse {
        var request = TransferRequest(url: try HTTPURL(url))
        request.cookies = cookies
        return try await client.response(for: request)
    }

    @Test func `a redirect's cookies go to its target, by the rules of cookies`() async throws {
        try await withScriptedServer(Self.answer) { server in
            try await withClient { client in
                let first = try await send(client, server.url + "/sets")
                _ = try await send(client, server.url + "/next", first.cookies)
                #expect(server.requests.map { $0.field("Cookie") } == [nil, "a=1"])
                let elsewhere = server.url.replacing("127.0.0.1", with: "localhost")
                _ = try await send(client, elsewhere + "/next", first.cookies)
                #expect(server.requests.last?.field("Cookie") == nil)
            }
        }
    }

    @Test func `cookies last along the chain`() async throws {
        try await withScriptedServer(Self.answer) { server in
            try await withClient { client in
                let first = try await send(client, server.url + "/sets")
                let second = try await send(client, server.url + "/keeps", first.cookies)
                _ = try await send(client, server.url + "/next", second.cookies)
                #expect(server.requests.last?.field("Cookie") == "a=1")
            }
        }
    }

    @Test func `no cookie is kept for another transfer, POSTs included`() async throws {
        try await withScriptedServer(Self.answer) { server in
            try await withClient { client in
                let url = try HTTPURL(server.url + "/sets")
                _ = try await send(client, url.string)
                _ = try await client.response(for: TransferRequest(url: url, post: [1]))
                _ = try await client.response(for: TransferRequest(url: url, post: [1]))
                _ = try await send(client, url.string)
                _ = try await send(client, server.url + "/last")
                _ = try await send(client, server.url + "/last")
                #expect(server.requests.allSatisfy { $0.field("Cookie") == nil })
            }
        }
    }
}
