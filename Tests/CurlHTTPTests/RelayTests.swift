import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

/// Requests relayed for a client.
@Suite(.timeLimit(.minutes(5))) struct RelayTests {
    private func relay(
        _ client: HTTPClient, _ url: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
        body: [UInt8]? = nil
    ) async throws -> TransferResponse {
        let relay = TransferRequest.Relay(method: method, body: body)
        return try await client.response(for: TransferRequest(url: HTTPURL(url), headerFields: fields, relay: relay))
    }

    @Test(arguments: ["GET", "PUT", "DELETE", "M-SEARCH", "HEAD"])
    func `what is asked goes out as it is, with nothing added`(method: String) async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") {
            listener in
            try await withClient { client in
                let method = try #require(HTTPRequest.Method(method))
                let fields: HTTPFields = [HTTPField.Name("X-Mine")!: "1", HTTPField.Name("X-Empty")!: ""]
                _ = try await relay(client, listener.url + "/a", method, fields, body: method == .put ? [120] : nil)
                let sent = await listener.requests.first { _ in true } ?? ""
                #expect(sent.hasPrefix("\(method.rawValue) /a HTTP/1.1\r\n"))
                #expect(sent.contains("\r\nX-Mine: 1\r\n") && sent.contains("\r\nX-Empty:\r\n"), "\(sent)")
                #expect(sent.contains("\r\nContent-Length: 1\r\n") == (method == .put))
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
                let response = try await relay(client, listener.url)
                #expect(response.head.status == .notFound && response.body == Array("no".utf8))
                #expect(response.head.headerFields[values: HTTPField.Name("X-A")!] == ["1", "2"])
                #expect(response.head.headerFields[HTTPField.Name("X-Folded")!] == "one two")
            }
        }
        try await withOrigin { origin, client in
            let moved = try await relay(client, origin.coverURL(1) + "?redirect=1")
            #expect(moved.head.status == .found && origin.requestCount == 1)
            #expect(moved.head.headerFields[.location]?.isEmpty == false)
        }
    }

    @Test func `a head that goes on and on is not read to its end`() async throws {
        let lines = String(repeating: "X-Long: \(String(repeating: "x", count: 1_000))\r\n", count: 400)
        try await withListener(answer: "HTTP/1.1 200 OK\r\n\(lines)\r\n") { listener in
            try await withClient { client in
                await #expect {
                    try await relay(client, listener.url)
                } throws: { error in
                    (error as? TransferError)?.kind == .truncated && "\(error)".contains("head")
                }
            }
        }
    }

    @Test func `1xx responses are reported as they come, and are no part of the final one (RFC 9110 §15.2)`()
        async throws
    {
        let answer = """
            HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r
            HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let reported = Mutex<[Int]>([])
                let relay = TransferRequest.Relay(method: .get) { interim in
                    reported.withLock { $0.append(interim.status.code) }
                }
                let response = try await client.response(
                    for: TransferRequest(url: HTTPURL(listener.url), relay: relay))
                #expect(reported.withLock { $0 } == [103, 102])
                #expect(response.head.status == .ok && response.body == Array("ok".utf8))
                #expect(response.head.headerFields[HTTPField.Name("X-Early")!] == nil)
            }
        }
    }

    @Test func `while a mebibyte is unread, no more is accepted; reading half of it resumes the transfer`() async throws
    {
        let stream = ResponseStream()
        let chunk = [UInt8](repeating: 7, count: 400_000)
        func offer() -> Bool { chunk.withUnsafeBytes { stream.offer($0) } }
        let resumptions = Mutex(0)
        stream.onResume { resumptions.withLock { $0 += 1 } }
        stream.begin(HTTPResponse(status: .ok))
        #expect(try await stream.head().status == .ok)
        #expect(offer() && offer() && offer() && !offer())
        #expect(try await stream.next()?.count == 400_000)
        #expect(resumptions.withLock { $0 } == 0)
        #expect(try await stream.next()?.count == 400_000)
        #expect(resumptions.withLock { $0 } == 1 && offer())
        stream.end(.failure(TransferError(.truncated, url: "", detail: "")))
        #expect(try await stream.next()?.count == 400_000)
        #expect(try await stream.next()?.count == 400_000)
        await #expect(throws: TransferError.self) { try await stream.next() }
    }

    @Test func `cancelling a stream ends its transfer, also while it is paused`() async throws {
        try await withOrigin { origin, client in
            let stream = ResponseStream()
            let url = try HTTPURL(origin.coverURL(1) + "?size=30000000")
            await client.start(TransferRequest(url: url, relay: .init(method: .get)), into: stream)
            #expect(try await stream.head().status == .ok)
            stream.cancel()
            try await eventually { origin.openConnectionCount == 0 }
            await #expect(throws: TransferError.self) { while try await stream.next() != nil {} }
        }
    }

    @Test func `a body larger than any limit is streamed as it was sent`() async throws {
        try await withOrigin({ $0.maximumBodySize = 1_000 }) { origin, client in
            let stream = ResponseStream()
            let url = try HTTPURL(origin.coverURL(1) + "?size=3000000")
            await client.start(TransferRequest(url: url, relay: .init(method: .get)), into: stream)
            #expect(try await stream.head().status == .ok)
            var bytes: [UInt8] = []
            while let piece = try await stream.next() { bytes += piece }
            #expect(bytes == CoverImage.jpeg(number: 1, aboutBytes: 3_000_000))
            let error = await client.failure(url.string)
            #expect(error?.kind == .tooLarge, "the limit holds again for covers")
        }
    }

    @Test func `a handle that relayed a request requests covers as before`() async throws {
        try await withOrigin { origin, client in
            for method in [HTTPRequest.Method.head, .post, .get] {
                _ = try await relay(client, origin.coverURL(1), method, body: method == .post ? [1] : nil)
                let cover = try await client.get(origin.coverURL(2) + "?redirect=1")
                #expect(cover.head.status == .ok && cover.body == CoverImage.jpeg(number: 2))
                #expect(cover.head.headerFields[.location] == nil && cover.redirectedTo != nil)
            }
            #expect(origin.connectionCount == 1)
        }
        try await withListener(answer: "HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nno") { listener in
            try await withClient { client in
                _ = try await relay(client, listener.url, .post, body: [1])
                let cover = try await client.get(listener.url)
                #expect(cover.body.isEmpty && cover.head.headerFields[HTTPField.Name("X-A")!] == nil)
                var heads = listener.requests.makeAsyncIterator()
                _ = await heads.next()
                #expect(await heads.next()?.contains("Accept: image/*, */*;q=0.8\r\n") == true)
            }
        }
    }
}
