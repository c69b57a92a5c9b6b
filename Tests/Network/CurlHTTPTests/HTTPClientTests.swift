import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(10))) struct HTTPClientTests {
    @Test func `a cover comes back byte for byte, with its status and the fields a cache needs`() async throws {
        try await withOrigin { origin, client in
            let response = try await client.get(origin.coverURL(7))
            #expect(response.body == CoverImage.jpeg(number: 7))
            #expect(response.head.status == .ok)
            #expect(response.head.headerFields[.contentType] == "image/jpeg")
            #expect(response.head.headerFields[.eTag] == "\"c7-\(response.body.count)\"")
            #expect(response.head.headerFields[.lastModified] != nil)
            #expect(response.head.headerFields[.cacheControl] == "public, max-age=86400")
            #expect(!response.isHTTP2)
            #expect(response.timings.firstByte > 0)
            #expect(response.microseconds >= response.timings.total - response.timings.body)
        }
    }

    @Test func `of the fields only those a cache needs are kept, and one sent twice is joined`() async throws {
        let answer = """
            HTTP/1.1 200 OK\r\nVary: Accept\r\nX-Secret: 1\r\nCache-Control: max-age=5\r\nSet-Cookie: a=b\r
            cache-control: public\r\nExpires: 0\r\nAge: 3\r\nContent-Length: 2\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let response = try await client.get(listener.url)
                let kept: HTTPFields = [.cacheControl: "max-age=5, public", .expires: "0", .age: "3", .vary: "Accept"]
                #expect(response.head.headerFields == kept)
                #expect(response.body == Array("hi".utf8))
            }
        }
    }

    @Test func `RFC 9112 section 7.1.2: a trailer that looks like a status line begins no response`() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n"
        try await withListener(answer: head + "2\r\nhi\r\n0\r\nHTTP/x: y\r\n\r\n") { listener in
            try await withClient { client in
                let response = try await client.get(listener.url)
                #expect(response.head.headerFields == [.eTag: "\"a\"", .cacheControl: "no-store"])
                #expect(response.body == Array("hi".utf8) && response.isEndMarked)
            }
        }
    }

    @Test
    func
        `a request that may not open a connection is cancelled without one, and one that finds a connection is answered`()
        async throws
    {
        try await withOrigin { origin, client in
            var request = TransferRequest(url: try HTTPURL(origin.coverURL(1)))
            request.onConnection = { $0 == .ready }
            let error = await #expect(throws: TransferError.self) { try await client.response(for: request) }
            #expect(error?.kind == .cancelled && origin.connectionCount == 0)
            _ = try await client.get(origin.coverURL(2))
            #expect(try await client.response(for: request).body == CoverImage.jpeg(number: 1))
        }
    }

    @Test func `requests share a connection one after the other, and of many together each gets its own cover`()
        async throws
    {
        try await withOrigin { origin, client in
            for number in 1...30 { _ = try await client.get(origin.coverURL(number)) }
            #expect(origin.connectionCount == 1 && origin.requestCount == 30)
            let wrong = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 1...200 {
                    group.addTask {
                        let bytes = try await client.get(origin.coverURL(number)).body
                        return bytes == CoverImage.jpeg(number: number) ? nil : number
                    }
                }
                return try await group.reduce(into: [Int]()) { wrong, number in wrong += number.map { [$0] } ?? [] }
            }
            #expect(wrong.isEmpty && origin.requestCount == 230)
        }
    }

    @Test(arguments: [400, 404, 429, 500, 503])
    func `an answer with an error status is a response, without its body`(status: Int) async throws {
        try await withOrigin { origin, client in
            let response = try await client.get(origin.coverURL(1) + "?status=\(status)&retry-after=7")
            #expect(response.head.status.code == status)
            #expect(response.head.headerFields[.retryAfter] == "7")
            #expect(response.body.count == 0)
        }
    }

    @Test func `a request says who asks and what for, and prefers images and no compression`() async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") { listener in
            try await withClient { client in
                var requests = listener.requests.makeAsyncIterator()
                _ = try await client.get(listener.url + "/a.jpg?b")
                let lines = try #require(await requests.next()).split(separator: "\r\n").map(String.init)
                #expect(lines.first == "GET /a.jpg?b HTTP/1.1")
                #expect(lines.contains("User-Agent: Sleeve/test"))
                #expect(
                    lines.filter { $0.lowercased().hasPrefix("accept") } == [
                        "Accept-Encoding: identity", "Accept: image/*, */*;q=0.8",
                    ])
            }
        }
    }

    @Test func `extra fields go with their own request only, though the handle is used again`() async throws {
        try await withListener(answer: "HTTP/1.1 304 Not Modified\r\n\r\n") { listener in
            try await withClient { client in
                var requests = listener.requests.makeAsyncIterator()
                let validator: HTTPFields = [.ifNoneMatch: "\"x\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"]
                let response = try await client.get(listener.url, validator)
                #expect(response.head.status == .notModified)
                let first = try #require(await requests.next())
                #expect(first.contains("If-None-Match: \"x\"\r\n"))
                #expect(first.contains("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
                #expect(first.contains("Accept: image/*, */*;q=0.8\r\n"))
                _ = try await client.get(listener.url)
                let second = try #require(await requests.next())
                #expect(!second.contains("If-"))
                #expect(second.contains("Accept: image/*, */*;q=0.8\r\n"))
            }
        }
    }

    @Test(arguments: ["", "&chunked=1"])
    func `a body of exactly the limit is taken`(form: String) async throws {
        let size = CoverImage.jpeg(number: 1, aboutBytes: 50_000).count
        try await withOrigin {
            $0.maximumBodySize = size
        } _: { origin, client in
            let response = try await client.get(origin.coverURL(1) + "?size=50000" + form)
            #expect(response.body.count == size)
        }
    }
}
