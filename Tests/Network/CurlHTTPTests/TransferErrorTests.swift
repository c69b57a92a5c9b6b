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
        ] as [(String, TransferError.Kind)])
    func `a faulty answer is classed by what went wrong`(query: String, kind: TransferError.Kind) async throws {
        try await withOrigin { origin, client in
            let url = origin.coverURL(1) + "?" + query
            expect(await client.failure(url), kind, url)
            let next = try await client.get(origin.coverURL(2))
            #expect(next.body == CoverImage.jpeg(number: 2), "the client goes on")
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
            #expect(error?.detail.contains("100 KiB") == true && error?.detail.contains("maximum size") == true)
            let next = try await client.get(origin.coverURL(2) + "?size=50000")
            #expect(!next.body.isEmpty, "the client goes on")
        }
    }

    @Test(arguments: [("fault=never", " without an answer"), ("rate=100&size=90000", " of 87.9 KiB received")])
    func `an origin that never answers, or is too slow, times out, and the error says what had come`(
        query: String, received: String
    ) async throws {
        try await withOrigin {
            $0.timeout = .milliseconds(300)
        } _: { origin, client in
            let url = origin.coverURL(1) + "?" + query
            let error = await client.failure(url)
            expect(error, .timeout, url)
            #expect((error?.microseconds ?? 0) >= 300_000)
            let detail = error?.detail ?? ""
            #expect(detail.hasPrefix("timed out after ") && detail.hasSuffix(received), "\(detail)")
        }
    }

    @Test func `a connection that is not ready in time has timed out before it was`() async throws {
        try await withListener(answer: nil, readsHead: false) { listener in
            let url = "https://127.0.0.1:\(listener.port)/1.jpg"
            try await withClient {
                $0.connectTimeout = .milliseconds(300)
            } _: { client in
                let error = await client.failure(url)
                expect(error, .timeout, url)
                #expect(error?.detail.hasSuffix(" before the connection was ready") == true, "\(error?.detail ?? "")")
            }
        }
    }

    @Test func `TLS to a server that speaks none is a failure of TLS`() async throws {
        try await withListener(answer: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", readsHead: false) {
            listener in
            let url = "https://127.0.0.1:\(listener.port)/covers/1.jpg"
            try await withClient { client in expect(await client.failure(url), .tls, url) }
        }
    }

    @Test func `a connection that is reset during the TLS handshake is a failure to connect`() async throws {
        let relay = try await LinkRelay.start(
            LinkModel(roundTrip: .milliseconds(1), bitsPerSecond: 1_000_000_000), port: try closedPort())
        let url = "https://127.0.0.1:\(relay.port)/1.jpg"
        try await withClient { client in expect(await client.failure(url), .connect, url) }
        await relay.stop()
    }

    @Test(
        arguments: [("", "https", .connect), ("SSH-2.0-OpenSSH_9.2\r\n", "http", .broken)]
            as [(String, String, TransferError.Kind)])
    func `a connection that is closed during the TLS handshake is a failure to connect, and no HTTP a broken answer`(
        answer: String, scheme: String, kind: TransferError.Kind
    ) async throws {
        try await withListener(answer: answer, readsHead: scheme == "http") { listener in
            let url = "\(scheme)://127.0.0.1:\(listener.port)/1.jpg"
            try await withClient { client in expect(await client.failure(url), kind, url) }
        }
    }
}
