import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

/// The request targets that reach the server.
@Suite(.timeLimit(.minutes(5))) struct RequestTargetTests {
    @Test(
        arguments: [
            "/a%2fb.jpg?e=%c3%bc&s=ab%2fcd%3d", "/%7euser/%2E%2e/./x/../y.jpg", "/a.jpg?", "/?", "//b//c.jpg",
            "/a.jpg?sig=a+b%20c~%7e", "/a.jpg?x=a'b(c)*!;d",
        ])
    func `a target reaches the server to the byte`(target: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                _ = try await client.get(listener.url + target)
                let sent = await listener.requests.first { _ in true } ?? ""
                #expect(sent.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(sent)")
            }
        }
    }

    @Test(arguments: ["/c%2fd?x=%c3%bc&y=a b", "http://b.example/%7E/../x?", "e.jpg", "//b.example?[x]"])
    func `the target of a redirect is returned as the server wrote it`(location: String) async throws {
        let moved = "HTTP/1.1 301 Moved\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        try await withListener(answer: moved) { listener in
            try await withClient { client in
                let url = try HTTPURL(listener.url + "/x%2fy/z")
                let response = try await client.response(for: TransferRequest(url: url))
                #expect(response.location == url.resolving(location))
            }
        }
    }
}
