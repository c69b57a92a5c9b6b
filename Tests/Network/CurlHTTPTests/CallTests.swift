import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

/// Requests that are not for covers.
@Suite(.timeLimit(.minutes(5))) struct CallTests {
    private func call(
        _ client: HTTPClient, _ url: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
        body: [UInt8]? = nil
    ) async throws -> TransferResponse {
        let call = TransferRequest.Call(method: method, body: body)
        return try await client.response(for: TransferRequest(url: HTTPURL(url), headerFields: fields, call: call))
    }

    @Test(
        arguments: [(HTTPRequest.Method.get, nil), (.put, [120]), (.put, []), (.post, [1, 2])]
            as [(HTTPRequest.Method, [UInt8]?)])
    func `what is asked goes out as it is, with nothing added`(method: HTTPRequest.Method, body: [UInt8]?) async throws
    {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") {
            listener in
            try await withClient { client in
                let fields: HTTPFields = [HTTPField.Name("X-Mine")!: "1", HTTPField.Name("X-Empty")!: ""]
                _ = try await call(client, listener.url + "/a", method, fields, body: body)
                let sent = await listener.requests.first { _ in true } ?? ""
                #expect(sent.hasPrefix("\(method.rawValue) /a HTTP/1.1\r\n"))
                #expect(sent.contains("\r\nX-Mine: 1\r\n") && sent.contains("\r\nX-Empty:\r\n"), "\(sent)")
                #expect(body.map { sent.contains("\r\nContent-Length: \($0.count)\r\n") } ?? !sent.contains("Content-"))
                for name in ["Accept", "User-Agent", "Expect", "Content-Type"] { #expect(!sent.contains("\(name):")) }
            }
        }
    }

    @Test func `the answer comes back whole: any status with its body, every field, and redirects as they are`()
        async throws
    {
        let answer = """
            HTTP/1.1 404 Not Found\r\nX-A: 1\r\nx-a: 2\r\nX-Folded: one\r\n  two\r\nLocation: /b\r\nContent-Length: 2\r\n\r\nno
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let response = try await call(client, listener.url)
                #expect(response.head.status == .notFound && response.body == Array("no".utf8))
                #expect(response.head.headerFields[values: HTTPField.Name("X-A")!] == ["1", "2"])
                #expect(response.head.headerFields[HTTPField.Name("X-Folded")!] == "one two")
            }
        }
        try await withOrigin { origin, client in
            let moved = try await call(client, origin.coverURL(1) + "?redirect=1")
            #expect(moved.head.status == .found && origin.requestCount == 1)
            #expect(moved.head.headerFields[.location]?.isEmpty == false)
        }
    }

    @Test func `1xx responses are no part of the final one (RFC 9110 §15.2)`() async throws {
        let answer = """
            HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r
            HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let response = try await call(client, listener.url)
                #expect(response.head.status == .ok && response.body == Array("ok".utf8))
                #expect(response.head.headerFields[HTTPField.Name("X-Early")!] == nil)
            }
        }
    }

    @Test func `a handle that carried a call requests covers as before`() async throws {
        try await withOrigin { origin, client in
            for method in [HTTPRequest.Method.put, .post, .get] {
                _ = try await call(client, origin.coverURL(1), method, body: method == .get ? nil : [1])
                let cover = try await client.get(origin.coverURL(2))
                #expect(cover.head.status == .ok && cover.body == CoverImage.jpeg(number: 2))
            }
            #expect(origin.connectionCount == 1)
        }
        try await withListener(answer: "HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nno") { listener in
            try await withClient { client in
                _ = try await call(client, listener.url, .post, body: [1])
                let cover = try await client.get(listener.url)
                #expect(cover.body.isEmpty && cover.head.headerFields[HTTPField.Name("X-A")!] == nil)
                var heads = listener.requests.makeAsyncIterator()
                _ = await heads.next()
                #expect(await heads.next()?.contains("Accept: image/*, */*;q=0.8\r\n") == true)
            }
        }
    }
}
