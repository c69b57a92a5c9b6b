import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

/// Requests that are not for covers.
@Suite(.timeLimit(.minutes(5))) struct PostTests {
    private func post(
        _ body: [UInt8], _ client: HTTPClient, _ url: String, _ fields: HTTPFields = [:]
    ) async throws -> TransferResponse {
        try await client.response(for: TransferRequest(url: HTTPURL(url), headerFields: fields, post: body))
    }

    @Test(arguments: [[], [120], [1, 0, 2]] as [[UInt8]])
    func `what is posted goes out as it is, with nothing added`(body: [UInt8]) async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") {
            listener in
            try await withClient { client in
                let fields: HTTPFields = [HTTPField.Name("X-Mine")!: "1", HTTPField.Name("X-Empty")!: ""]
                _ = try await post(body, client, listener.url + "/a", fields)
                let sent = await listener.requests.first { _ in true } ?? ""
                #expect(sent.hasPrefix("POST /a HTTP/1.1\r\n"))
                #expect(sent.contains("\r\nX-Mine: 1\r\n") && sent.contains("\r\nX-Empty:\r\n"), "\(sent)")
                #expect(sent.contains("\r\nContent-Length: \(body.count)\r\n"), "\(sent)")
                for name in ["Accept", "User-Agent", "Expect", "Content-Type"] { #expect(!sent.contains("\(name):")) }
            }
        }
    }

    @Test func `the answer is that of the server, of any status, and no redirect is followed`() async throws {
        try await withListener(answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno") { listener in
            try await withClient { client in
                let response = try await post([1], client, listener.url)
                #expect(response.head.status == .notFound)
            }
        }
        try await withScriptedServer { _ in
            httpResponse("302 Found", ["Location: /b"])
        } _: { server in
            try await withClient { client in
                let moved = try await post([1], client, server.url + "/a")
                #expect(moved.head.status == .found && server.requests.count == 1)
            }
        }
    }

    @Test func `a handle that carried a POST requests covers as before`() async throws {
        try await withOrigin { origin, client in
            for body in [[1], []] as [[UInt8]] {
                _ = try await post(body, client, origin.coverURL(1))
                let cover = try await client.get(origin.coverURL(2))
                #expect(cover.head.status == .ok && cover.body == CoverImage.jpeg(number: 2))
            }
            #expect(origin.connectionCount == 1)
        }
        try await withListener(answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno") { listener in
            try await withClient { client in
                _ = try await post([1], client, listener.url)
                _ = try await client.get(listener.url)
                var heads = listener.requests.makeAsyncIterator()
                _ = await heads.next()
                #expect(await heads.next()?.contains("Accept: image/*, */*;q=0.8\r\n") == true)
            }
        }
    }
}
