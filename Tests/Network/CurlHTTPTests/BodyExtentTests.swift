import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

/// How a body's end is known, and what is not taken for a whole body.
@Suite(.timeLimit(.minutes(5))) struct BodyExtentTests {
    private static let body = Array("0123456789".utf8)

    private func response(_ answer: [UInt8]) async throws -> TransferResponse {
        var response: TransferResponse?
        let server = try ScriptedServer { $0.connection == 0 ? answer : nil }
        defer { server.stop() }
        try await withClient { response = try await $0.get(server.url + "/1.jpg") }
        return try #require(response)
    }

    private func raw(_ head: String, _ body: [UInt8] = body) -> [UInt8] { Array(head.utf8) + body }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n",
    ])
    func `a body that ends before its announced end is truncated`(head: String) async throws {
        try await withListener(answer: head + "0123456789") { listener in
            try await withClient { client in #expect(await client.failure(listener.url)?.kind == .truncated) }
        }
    }

    @Test func `a body that ends with its connection is complete, and its end is not marked`() async throws {
        try await withListener(answer: "HTTP/1.0 200 OK\r\n\r\n0123456789") { listener in
            try await withClient { client in
                let response = try await client.get(listener.url)
                #expect(response.body == Self.body && !response.isEndMarked)
            }
        }
    }

    @Test(.enabled(if: Nginx.isInstalled), arguments: [false, true])
    func
        `RFC 9112 section 9.8: over TLS too a body may end with its connection, and without notice if it has no length`(
            hasLength: Bool
        ) async throws
    {
        let answer = "HTTP/1.0 200 OK\r\n\(hasLength ? "Content-Length: 11\r\n" : "")\r\n0123456789"
        try await withListener(answer: answer) { listener in
            let proxy =
                "proxy_buffering off; location / { proxy_pass http://127.0.0.1:\(listener.port); proxy_http_version 1.0; }"
            try await Nginx.with(.https, server: proxy + " keepalive_timeout 0; chunked_transfer_encoding off;") {
                nginx in
                let relay = try Relay(to: nginx.port, swallowsNotice: true)
                defer { relay.stop() }
                try await withClient {
                    $0.certificateAuthorities = nginx.certificate
                } _: { client in
                    let url = "https://127.0.0.1:\(relay.port)/"
                    if hasLength {
                        let kind = await client.failure(url)?.kind
                        #expect(kind == .truncated)
                    } else {
                        let response = try await client.get(url)
                        #expect(response.body == Self.body && !response.isEndMarked)
                    }
                }
            }
        }
    }

    @Test func `the end of a body with a length or with chunks is marked`() async throws {
        #expect(try await response(httpResponse("200 OK", [], Self.body)).isEndMarked)
        let chunks = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n") + Array("\r\n0\r\n\r\n".utf8)
        let chunked = try await response(chunks)
        #expect(chunked.isEndMarked && chunked.body == Self.body)
    }

    @Test(arguments: ["10, 11", "10,", "+10", "10abc", "10.0", "0x0a", "1 0", "11\r\nContent-Length: 10"])
    func `RFC 9112 section 6.3: a length that is no number, or two that differ, are no length`(length: String)
        async throws
    {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n0123456789") { listener in
            try await withClient { client in
                let kind = await client.failure(listener.url)?.kind
                #expect(kind == .broken)
            }
        }
    }

    @Test(arguments: ["10", "010", "10, 10", "10\r\nContent-Length: 0010", "10\r\nContent-Length: 10 ,10"])
    func `a length may be repeated, and begin with zeros`(length: String) async throws {
        let answer = raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        #expect(try await response(answer).body == Self.body)
    }

    @Test(
        arguments: [
            ("bytes 0-9/10", 200), ("Bytes 0-9/10", 200), ("bytes 0-9/11", 206), ("bytes 1-9/10", 206),
            ("bytes 0-9/*", 206), ("bytes 0-10/11", 206), ("bytes */10", 206), ("nonsense", 206), (nil, 206),
        ] as [(String?, Int)])
    func `a 206 is a 200 only if its range is the whole`(range: String?, status: Int) async throws {
        let answer = httpResponse("206 Partial Content", range.map { ["Content-Range: \($0)"] } ?? [], Self.body)
        #expect(try await response(answer).head.status.code == status)
    }

    @Test(arguments: [("204 No Content", 204), ("304 Not Modified", 304)])
    func `a response without a body may have a length`(line: String, status: Int) async throws {
        let answer = raw("HTTP/1.1 \(line)\r\nContent-Length: 10\r\n\r\n", [])
        #expect(try await response(answer).head.status.code == status)
    }

    @Test(arguments: [
        "HTTP/2 1234 OK", "HTTP/2 99999999999999999999 OK", "HTTP/1.1 1000 OK", "HTTP/1.1 099 OK", "HTTP/3 0 X",
    ])
    func `a status that is none is a failure, and ends no process`(line: String) async throws {
        for post in [nil, [1]] as [[UInt8]?] {
            try await withListener(answer: "\(line)\r\nContent-Length: 0\r\n\r\n") { listener in
                try await withClient { client in
                    let url = try HTTPURL(listener.url + "/")
                    let request = TransferRequest(url: url, post: post)
                    let error = await #expect(throws: TransferError.self) { try await client.response(for: request) }
                    #expect(error?.kind == .broken, "\(error as Any)")
                }
            }
        }
    }

    @Test func `a length beyond all memory is no reason to take it`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 900000000000\r\n\r\nabc"
        try await withListener(answer: head) { listener in
            try await withClient {
                $0.maximumBodySize = 1 << 40
            } _: { client in
                let error = await client.failure(listener.url)
                #expect(error?.kind == .truncated)
            }
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e15), .zero, .milliseconds(1), .seconds(-5)])
    func `a time-out of any length is one that libcurl takes`(duration: Duration) {
        #expect((0...Int(Int32.max)).contains(duration.inMilliseconds))
    }
}
