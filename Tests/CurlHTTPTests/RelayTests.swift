import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

/// Requests handed on for somebody else.
@Suite(.timeLimit(.minutes(5))) struct RelayTests {
    private func relay(
        _ client: HTTPClient, _ url: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
        body: [UInt8]? = nil
    ) async throws -> TransferResponse {
        let relay = TransferRequest.Relay(method: method, body: body)
        return try await client.response(for: TransferRequest(url: HTTPURL(url), headerFields: fields, relay: relay))
    }

    @Test(
        "what is asked goes out as it is, with nothing added", arguments: ["GET", "PUT", "DELETE", "M-SEARCH", "HEAD"])
    func request(method: String) async throws {
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

    @Test("the answer comes back whole: any status with its body, every field, and redirects as they are")
    func response() async throws {
        let answer = """
            HTTP/1.1 404 Not Found\r\nX-A: 1\r\nx-a: 2\r\nX-Folded: one\r\n  two\r\nLocation: /b\r\nContent-Length: 2\r\n\r\nno
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let response = try await relay(client, listener.url)
                #expect(response.head.status == .notFound && response.bytes == Array("no".utf8))
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

    @Test("a head that goes on and on is not read to its end")
    func longHead() async throws {
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

    @Test("1xx responses are told as they come, and are no part of the final one (RFC 9110 §15.2)")
    func interim() async throws {
        let answer = """
            HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r
            HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok
            """
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let told = Mutex<[Int]>([])
                let relay = TransferRequest.Relay(method: .get) { interim in
                    told.withLock { $0.append(interim.status.code) }
                }
                let response = try await client.response(
                    for: TransferRequest(url: HTTPURL(listener.url), relay: relay))
                #expect(told.withLock { $0 } == [103, 102])
                #expect(response.head.status == .ok && response.bytes == Array("ok".utf8))
                #expect(response.head.headerFields[HTTPField.Name("X-Early")!] == nil)
            }
        }
    }

    @Test("a body that nobody reads stays with its sender, and goes on, whole, once it is read")
    func fullPipe() async throws {
        let pipe = BodyPipe()
        let chunk = [UInt8](repeating: 7, count: 400_000)
        func offer() -> Bool { chunk.withUnsafeBytes { pipe.offer($0) } }
        let goesOn = Mutex(0)
        pipe.set { isWanted in goesOn.withLock { $0 += isWanted ? 1 : 0 } }
        pipe.begin(HTTPResponse(status: .ok))
        #expect(try await pipe.head().status == .ok)
        #expect(offer() && offer() && offer() && !offer(), "a little more than a megabyte waits in it")
        #expect(try await pipe.next()?.count == 1_200_000)
        #expect(goesOn.withLock { $0 } == 1 && offer())
        pipe.end(.failure(TransferError(.truncated, url: "", detail: "")))
        #expect(try await pipe.next()?.count == 400_000)
        await #expect(throws: TransferError.self) { try await pipe.next() }
    }

    @Test("a body larger than any limit comes through a pipe as it was sent")
    func piped() async throws {
        try await withOrigin({ $0.maximumBodySize = 1_000 }) { origin, client in
            let pipe = BodyPipe()
            let url = try HTTPURL(origin.coverURL(1) + "?size=3000000")
            await client.start(TransferRequest(url: url, relay: .init(method: .get)), into: pipe)
            #expect(try await pipe.head().status == .ok)
            var bytes: [UInt8] = []
            while let piece = try await pipe.next() { bytes += piece }
            #expect(bytes == CoverImage.jpeg(number: 1, aboutBytes: 3_000_000))
            let error = await client.failure(url.string)
            #expect(error?.kind == .tooLarge, "the limit holds again for covers")
        }
    }

    @Test("a handle that has handed on a request asks for covers as before")
    func handleIsClean() async throws {
        try await withOrigin { origin, client in
            for method in [HTTPRequest.Method.head, .post, .get] {
                _ = try await relay(client, origin.coverURL(1), method, body: method == .post ? [1] : nil)
                let cover = try await client.get(origin.coverURL(2) + "?redirect=1")
                #expect(cover.head.status == .ok && cover.bytes == CoverImage.jpeg(number: 2))
                #expect(cover.head.headerFields[.location] == nil && cover.redirectedTo != nil)
            }
            #expect(origin.connectionCount == 1)
        }
        try await withListener(answer: "HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nno") { listener in
            try await withClient { client in
                _ = try await relay(client, listener.url, .post, body: [1])
                let cover = try await client.get(listener.url)
                #expect(cover.bytes.isEmpty && cover.head.headerFields[HTTPField.Name("X-A")!] == nil)
                var heads = listener.requests.makeAsyncIterator()
                _ = await heads.next()
                #expect(await heads.next()?.contains("Accept: image/*\r\n") == true)
            }
        }
    }
}
