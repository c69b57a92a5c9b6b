import CurlHTTP
import Foundation
import HTTPTypes
import LinkEmulator
import OriginServer
import OriginTLS
import Platform
import Testing
import Wire

@Suite(.timeLimit(.minutes(10)))
struct OriginTLSTests {
    /// Runs `body` with an origin that speaks HTTPS and a client that trusts its certificate.
    private func withOriginAndClient(
        _ tls: OriginTLS? = nil, _ configure: (inout OriginOptions) -> Void = { _ in },
        _ body: (Origin, HTTPClient) async throws -> Void
    ) async throws {
        let tls = try tls ?? OriginTLS()
        var options = OriginOptions()
        options.transport = tls
        configure(&options)
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
        try Data(tls.certificate.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var configuration = HTTPClientConfiguration(userAgent: "Sleeve/test")
        configuration.certificateAuthorities = file.path
        let client = try HTTPClient(configuration: configuration)
        defer { client.loop.shutdown() }
        let origin = try await Origin.start(options)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, client)) } catch { result = .failure(error) }
        await origin.stop()
        try result.get()
    }

    private func get(_ client: HTTPClient, _ url: String) async throws -> TransferResponse {
        try await client.response(for: TransferRequest(url: HTTPURL(url), waitsToMultiplex: true))
    }

    @Test(arguments: [true, false])
    func `a client gets a cover over HTTP/2, or over HTTP/1.1 where only that is offered`(offersHTTP2: Bool)
        async throws
    {
        try await withOriginAndClient(try OriginTLS(offersHTTP2: offersHTTP2)) { origin, client in
            #expect(origin.url == "https://127.0.0.1:\(origin.port)")
            for url in [origin.coverURL(7), "https://localhost:\(origin.port)/covers/7.jpg?delay=5"] {
                let response = try await get(client, url)
                #expect(response.isHTTP2 == offersHTTP2)
                #expect(response.body == CoverImage.jpeg(number: 7))
            }
        }
    }

    @Test func `a client that does not trust the certificate gets nothing`() async throws {
        try await withOriginAndClient { origin, _ in
            let client = try HTTPClient(configuration: HTTPClientConfiguration(userAgent: "Sleeve/test"))
            defer { client.loop.shutdown() }
            let error = await #expect(throws: TransferError.self) { try await get(client, origin.coverURL(7)) }
            #expect(error?.kind == .tls)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func `many requests share one connection, also over a link`() async throws {
        try await withOriginAndClient { origin, client in
            let relay = try await LinkRelay.start(
                LinkModel(roundTrip: .milliseconds(10), bitsPerSecond: 1_000_000_000), port: origin.port)
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let response = try await get(client, "https://127.0.0.1:\(relay.port)/covers/\(number).jpg")
                        #expect(response.isHTTP2)
                    }
                }
                try await group.waitForAll()
            }
            #expect(origin.requestCount == 60)
            #expect(relay.metrics.connections == 1)
            await relay.stop()
        }
    }

    @Test func `no connection has more streams than the limit`() async throws {
        try await withOriginAndClient(try OriginTLS(maximumStreams: 2)) { origin, client in
            try await withThrowingTaskGroup { group in
                // The client learns the limit with the first response.
                _ = try await get(client, origin.coverURL(0))
                for number in 1...6 {
                    group.addTask { _ = try await get(client, origin.coverURL(number) + "?hold=1") }
                }
                try await eventually { origin.requestCount >= 3 }
                origin.release()
                try await group.waitForAll()
            }
            #expect(origin.requestCount == 7)
            #expect(origin.peakInFlight <= 2 * origin.connectionCount)
        }
    }

    @Test(arguments: ["truncate", "wrong-length", "excess", "reset", "close"])
    func `faults end the stream, and the connection serves the next request`(name: String) async throws {
        try await withOriginAndClient { origin, client in
            await #expect(throws: TransferError.self) { try await get(client, origin.coverURL(5) + "?fault=\(name)") }
            let body = try await get(client, origin.coverURL(5)).body
            #expect(body == CoverImage.jpeg(number: 5))
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func `a connection without response closes when its client leaves, and an origin stops in spite of one`()
        async throws
    {
        try await withOriginAndClient { origin, client in
            let request = Task { try await get(client, origin.coverURL(5) + "?fault=never") }
            try await eventually { origin.requestCount == 1 }
            #expect(origin.openConnectionCount == 1)
            client.loop.shutdown()
            try await eventually { origin.openConnectionCount == 0 }
            _ = await request.result
        }
        try await withOriginAndClient { origin, client in
            let request = Task { try await get(client, origin.coverURL(5) + "?fault=never") }
            try await eventually { origin.requestCount == 1 }
            await origin.stop()
            await #expect(throws: TransferError.self) { try await request.value }
        }
    }

    @Test func `a cover of the archive is two redirects away, with every host on the origin's port`() async throws {
        try await withOriginAndClient {
            $0.archiveHosts = true
        } _: { origin, client in
            let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
            let response = try await get(client, "https://localhost:\(origin.port)/release/\(id)/front-500")
            #expect(response.redirects.map(\.status.code) == [307, 302])
            #expect(response.redirectedTo?.contains(".hosts.localhost:\(origin.port)/covers/") == true, "\(response)")
            #expect(response.body.count >= 29_997)
        }
    }
}
