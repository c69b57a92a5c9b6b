import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

/// libcurl meets a server first. Told that it has, the client asks without it from the beginning.
@Suite(.timeLimit(.minutes(10))) struct PlainHTTPTests {
    @Test(
        "whatever a server answers, it is the same response, or the same kind of failure, as libcurl's",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: \"a\"\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\ncache-control: max-age=5\r\nCache-Control:public\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more",
            "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 7\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
            "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end", "HTTP/1.1 204 None\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
            "HTTP/1.1 103 Early Hints\r\nETag: \"no\"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nETag: \"ü\"\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 302 Found\r\nLocation: ../b c?d\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 301 Moved\r\nLocation: https://user:secret@elsewhere:99/a\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 308 Moved\r\nLocation: ftp://elsewhere/a\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 307 Moved\r\nLocation: //elsewhere\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 303 See\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 See\r\nLocation:\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 See\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 300 Choose\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\nhi", "no HTTP at all", "",
            "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Len", "HTTP/1.1 304 Not Modified\r\nETa",
            "HTTP/1.1 200 OK\r\nETag:",
        ])
    func sameAsLibcurl(answer: String) async throws {
        try await withListener(answer: answer) { listener in
            var told: [Result<TransferResponse, TransferError>] = []
            for isPlain in [true, false] {
                try await withClient({ $0.maximumBodySize = 1_000_000 }) { client in
                    if isPlain { try await client.met(listener.url) }
                    do {
                        var request = TransferRequest(url: try HTTPURL(listener.url + "/a/b/c"))
                        request.followsRedirects = false
                        told.append(.success(try await client.response(for: request)))
                    } catch let error as TransferError {
                        told.append(.failure(error))
                    }
                }
            }
            switch (told[0], told[1]) {
            case (.success(let ours), .success(let theirs)):
                #expect(ours.head.status == theirs.head.status && ours.bytes == theirs.bytes)
                #expect(ours.head.headerFields == theirs.head.headerFields)
                #expect(ours.location == theirs.location)
            case (.failure(let ours), .failure(let theirs)): #expect(ours.kind == theirs.kind)
            default: Issue.record("\(told)")
            }
        }
    }

    @Test("a request holds what libcurl's holds, in the same order")
    func request() async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") {
            listener in
            var heads: [String] = []
            var requests = listener.requests.makeAsyncIterator()
            for isPlain in [true, false] {
                try await withClient { client in
                    if isPlain { try await client.met(listener.url) }
                    let url = listener.url + "/a%20b?c=d"
                    _ = try await client.get(url, [.ifNoneMatch: "\"a\"", .ifModifiedSince: "never"])
                    heads.append(try #require(await requests.next()))
                }
            }
            #expect(heads[0] == heads[1])
        }
    }

    @Test("a name is looked up by libcurl, and what it led to is asked without it")
    func names() async throws {
        try await withOrigin { origin, client in
            let url = origin.coverURL(1).replacing("127.0.0.1", with: "localhost")
            for _ in 0..<10 {
                let bytes = try await client.get(url).bytes
                #expect(bytes == CoverImage.jpeg(number: 1))
            }
            #expect(origin.connectionCount == 2 && origin.requestCount == 10)
        }
    }

    @Test("a connection that was closed while nobody used it is not noticed by whoever asks next")
    func closedWhileIdle() async throws {
        // The listener closes every connection after its answer, though it does not say so.
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") { listener in
            try await withClient { client in
                try await client.met(listener.url)
                for _ in 0..<50 {
                    let bytes = try await client.get(listener.url).bytes
                    #expect(bytes == Array("hi".utf8))
                }
            }
        }
    }

    @Test("a head that is cut off is no response (RFC 9112 section 8)", arguments: ["200 OK", "304 Same", "410 Gone"])
    func cutOff(status: String) async throws {
        try await withListener(answer: "HTTP/1.1 \(status)\r\nCache-Control: max-age=600\r\nETag: \"a\"\r\nCont") {
            listener in
            try await withClient { client in
                let error = await client.failure(listener.url)
                #expect(error?.kind == .broken)
            }
        }
    }

    @Test("what comes behind a response, unasked, is not taken for the next one")
    func excess() async throws {
        let body = String(repeating: "x", count: 200_000)
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n\(body)HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                try await client.met(listener.url)
                for _ in 0..<20 {
                    let count = try await client.get(listener.url).body.count
                    #expect(count == 200_000)
                }
            }
        }
    }

    @Test("where answers are unusual, libcurl alone is asked after the second")
    func unusualServer() async throws {
        try await withOrigin { origin, client in
            try await client.met(origin.coverURL(1))
            for _ in 0..<20 { _ = try await client.get(origin.coverURL(1) + "?redirect=1") }
            #expect(origin.requestCount == 42)
        }
    }

    @Test("an address that does not answer any more is left, and the name looked up again")
    func movedAway() async throws {
        try await withOrigin { origin, client in
            let url = origin.coverURL(1)
            // Nobody listens there.
            try await client.met(url, at: "127.0.0.2")
            for _ in 0..<3 {
                let bytes = try await client.get(url).bytes
                #expect(bytes == CoverImage.jpeg(number: 1))
            }
        }
    }

    @Test("a large body that breaks off is kept to be gone on with")
    func truncated() async throws {
        let body = String(repeating: "x", count: 200_000)
        try await withListener(answer: "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 300000\r\n\r\n" + body) {
            listener in
            try await withClient { client in
                try await client.met(listener.url)
                let error = await client.failure(listener.url)
                #expect(error?.kind == .truncated && error?.detail.contains("100000 of its 300000 bytes") == true)
                #expect(error?.partial?.body.count == 200_000 && error?.partial?.fields[.eTag] == "\"a\"")
            }
        }
    }

    @Test("bodies of any size come whole, many at a time")
    func sizes() async throws {
        try await withOrigin { origin, client in
            try await client.met(origin.coverURL(1))
            let sizes = [1, 100, 16_000, 65_000, 66_000, 1_000_000, 5_000_000]
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, size) in sizes.enumerated() {
                    group.addTask {
                        let bytes = try await client.get(origin.coverURL(number) + "?size=\(size)").bytes
                        return bytes == CoverImage.jpeg(number: number, aboutBytes: size)
                    }
                }
                for try await isWhole in group { #expect(isWhole) }
            }
        }
    }
}

extension HTTPClient {
    fileprivate func met(_ url: String, at address: String = "127.0.0.1") throws {
        loop.met(try HTTPURL(url), at: address)
    }
}
