import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

/// The request targets that reach the server.
@Suite(.timeLimit(.minutes(5))) struct RequestTargetTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    @Test(
        arguments: [
            "/a%2fb.jpg?e=%c3%bc&s=ab%2fcd%3d", "/%7euser/%2E%2e/./x/../y.jpg", "/a.jpg?", "/?", "//b//c.jpg",
            "/a.jpg?sig=a+b%20c~%7e", "/a.jpg?x=a'b(c)*!;d",
        ])
    func `a target reaches the server to the byte`(target: String) async throws {
        for followsRedirects in [false, true] where !(followsRedirects && target.hasSuffix("?")) {
            try await withListener(answer: Self.answer) { listener in
                try await withClient { client in
                    var request = TransferRequest(url: try HTTPURL(listener.url + target))
                    request.followsRedirects = followsRedirects
                    _ = try await client.response(for: request)
                    let sent = await listener.requests.first { _ in true } ?? ""
                    #expect(sent.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(sent)")
                }
            }
        }
    }

    @Test func `a redirect that libcurl follows is not sent the target of the first request`() async throws {
        try await withListener(answer: Self.answer) { listener in
            let moved = "HTTP/1.1 302 Found\r\nLocation: \(listener.url)/b%2fc\r\nContent-Length: 0\r\n\r\n"
            try await withListener(answer: moved) { first in
                try await withClient { client in
                    var request = TransferRequest(url: try HTTPURL(first.url + "/a"))
                    request.followsRedirects = false
                    _ = try await client.response(for: request)
                    #expect(try await client.get(first.url + "/a").head.status == .ok)
                    let sent = await listener.requests.first { _ in true } ?? ""
                    #expect(sent.hasPrefix("GET /b%2fc HTTP/1.1\r\n"), "\(sent)")
                }
            }
        }
    }

    @Test(arguments: ["/c%2fd?x=%c3%bc&y=a b", "http://b.example/%7E/../x?", "e.jpg", "//b.example?[x]"])
    func `the target of a redirect is returned as the server wrote it`(location: String) async throws {
        let moved = "HTTP/1.1 301 Moved\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        try await withListener(answer: moved) { listener in
            try await withClient { client in
                let url = try HTTPURL(listener.url + "/x%2fy/z")
                var request = TransferRequest(url: url)
                request.followsRedirects = false
                let response = try await client.response(for: request)
                #expect(response.location == url.resolving(location))
            }
        }
    }
}
