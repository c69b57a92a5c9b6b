import LinkEmulator
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

/// Every class of failure, each for real.
@Suite(.timeLimit(.minutes(10))) struct TransferErrorTests {
    /// One line that names the URL.
    private func expect(
        _ error: TransferError?, _ kind: TransferError.Kind, _ url: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.kind == kind, sourceLocation: location)
        #expect(error?.url == url, sourceLocation: location)
        #expect(error.map { "\($0)".hasPrefix("\(url): ") && !$0.detail.isEmpty } == true, sourceLocation: location)
        #expect(error.map { !"\($0)".contains("\n") } == true, sourceLocation: location)
    }

    @Test(
        arguments: [
            ("fault=truncate", .truncated), ("fault=wrong-length", .truncated),
            ("fault=truncate&size=200000", .truncated),
            ("fault=reset", .broken), ("fault=close", .broken),
            ("fault=loop", .tooManyRedirects), ("redirect=11", .tooManyRedirects),
            ("to=ftp://127.0.0.1/1.jpg", .refusedAddress), ("to=file:///etc/passwd", .refusedAddress),
            ("to=gopher://127.0.0.1/", .refusedAddress),
        ] as [(String, TransferError.Kind)])
    func `a faulty answer is classed by what went wrong`(query: String, kind: TransferError.Kind) async throws {
        try await withOrigin { origin, client in
            let url = origin.coverURL(1) + "?" + query
            expect(await client.failure(url), kind, url)
        }
    }

    @Test(arguments: ["size=200000", "size=200000&chunked=1", "fault=endless"])
    func `a body past the limit is stopped, whether or not its length was announced`(query: String) async throws {
        try await withOrigin {
            $0.maximumBodySize = 100 << 10
        } _: { origin, client in
            let url = origin.coverURL(1) + "?" + query
            let error = await client.failure(url)
            expect(error, .tooLarge, url)
            #expect(error?.detail.contains("100 KiB") == true)
            #expect(error?.detail.contains("--max-size") == true)
        }
    }

    @Test(arguments: ["fault=never", "rate=100&size=90000"])
    func `an origin that never answers, or is too slow, times out`(query: String) async throws {
        try await withOrigin {
            $0.timeout = .milliseconds(300)
        } _: { origin, client in
            let url = origin.coverURL(1) + "?" + query
            let error = await client.failure(url)
            expect(error, .timeout, url)
            #expect((error?.microseconds ?? 0) >= 300_000)
        }
    }

    @Test func `a port without a listener is a failure to connect`() async throws {
        let url = "http://127.0.0.1:\(try await closedPort())/a.jpg"
        try await withClient { client in expect(await client.failure(url), .connect, url) }
    }

    @Test func `a name without an address is a failure of name resolution`() async throws {
        let url = "http://nonexistent.invalid/a.jpg"
        try await withClient { client in expect(await client.failure(url), .nameResolution, url) }
    }

    @Test func `TLS to a server that speaks none is a failure of TLS`() async throws {
        try await withOrigin { origin, client in
            let url = "https://127.0.0.1:\(origin.port)/covers/1.jpg"
            expect(await client.failure(url), .tls, url)
        }
    }

    @Test func `a connection that is reset during the TLS handshake is a failure to connect`() async throws {
        let relay = try await LinkRelay.start(
            LinkModel(roundTrip: .milliseconds(1), bitsPerSecond: 1_000_000_000), port: try await closedPort())
        let url = "https://127.0.0.1:\(relay.port)/1.jpg"
        try await withClient { client in expect(await client.failure(url), .connect, url) }
        await relay.stop()
    }

    @Test func `a connection that is closed during the TLS handshake is a failure to connect`() async throws {
        try await withListener(answer: "", readsHead: false) { listener in
            let url = "https://127.0.0.1:\(listener.port)/1.jpg"
            try await withClient { client in expect(await client.failure(url), .connect, url) }
        }
    }

    @Test func `an answer that is no HTTP is a failure, not a cover`() async throws {
        try await withListener(answer: "SSH-2.0-OpenSSH_9.2\r\n") { listener in
            let url = listener.url + "/"
            try await withClient { client in expect(await client.failure(url), .broken, url) }
        }
    }

    @Test func `a body whose chunks break off is truncated`() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                expect(await client.failure(listener.url + "/"), .truncated, listener.url + "/")
            }
        }
    }

    @Test func `after every kind of failure the client goes on working`() async throws {
        try await withOrigin {
            $0.timeout = .seconds(3)
            $0.maximumBodySize = 300_000
        } _: { origin, client in
            let expected = CoverImage.jpeg(number: 2)
            for fault in ["truncate", "wrong-length", "reset", "close", "loop", "endless", "never"] {
                #expect(await client.failure(origin.coverURL(1) + "?fault=\(fault)") != nil)
                // A machine with much to do may take longer than the time limit now and then.
                var response: TransferResponse?
                for _ in 0..<50 where response == nil { response = try? await client.get(origin.coverURL(2)) }
                #expect(response?.body == expected, "after \(fault)")
            }
        }
    }
}
