import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

@Suite(.enabled(if: Nginx.isInstalled), .timeLimit(.minutes(10))) struct TLSTests {
    /// Answers every path with the number of the connection.
    private static let counting = "location / { return 200 $connection; }"

    @Test func `a server with a private authority is trusted with its file, and not without`() async throws {
        try await Nginx.with(.https, server: Self.counting) { server in
            try await withClient {
                $0.certificateAuthorities = server.certificate
            } _: { client in
                let response = try await client.get(server.url + "/")
                #expect(response.head.status == .ok)
                #expect(!response.isHTTP2)
            }
            for missing in [nil, server.certificate + ".none"] {
                try await withClient {
                    $0.certificateAuthorities = missing
                } _: { client in
                    let error = await client.failure(server.url + "/")
                    #expect(error?.kind == .tls)
                }
            }
        }
    }

    /// The bodies of `/1` to `/count`, requested together over HTTP/2.
    private func bodies(_ count: Int, _ url: String, _ client: HTTPClient) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...count {
                group.addTask {
                    let request = TransferRequest(url: try HTTPURL("\(url)/\(number)"), waitsToMultiplex: true)
                    let response = try await client.response(for: request)
                    #expect(response.isHTTP2)
                    return String(decoding: response.body, as: UTF8.self)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `over HTTP/2 many requests that wait for it share one connection`() async throws {
        try await Nginx.with(.http2, server: Self.counting) { server in
            try await withClient {
                $0.certificateAuthorities = server.certificate
            } _: { client in
                let connections = Set(try await bodies(60, server.url, client))
                #expect(connections.count == 1)
            }
        }
    }

    @Test func `requests that wait for a connection are not held up by those that wait for one of another host`()
        async throws
    {
        try await Nginx.with(.http2, server: Self.counting) { server in
            try await withListener(answer: nil) { silent in
                try await withClient {
                    $0.certificateAuthorities = server.certificate
                } _: { client in
                    let ended = Mutex(0)
                    for number in 1...9 {
                        let url = try HTTPURL("https://127.0.0.1:\(silent.port)/\(number)")
                        await client.start(TransferRequest(url: url, waitsToMultiplex: true)) { _ in
                            ended.withLock { $0 += 1 }
                        }
                    }
                    let connections = Set(try await bodies(5, server.url, client))
                    #expect(connections.count == 1 && ended.withLock { $0 } == 0)
                }
            }
        }
    }

    @Test(arguments: ["truncate", "wrong-length"])
    func `over HTTP/2 a response that breaks off ends its stream, and the connection serves the next request`(
        fault: String
    ) async throws {
        try await withOrigin { origin, _ in
            try await Nginx.with(.http2, server: Nginx.proxy(to: origin.port)) { server in
                let relay = try Relay(to: server.port)
                defer { relay.stop() }
                try await withClient {
                    $0.certificateAuthorities = server.certificate
                } _: { client in
                    let url = "https://127.0.0.1:\(relay.port)/covers/5.jpg"
                    let error = await client.failure(url + "?fault=\(fault)")
                    #expect(error?.kind == .broken || error?.kind == .truncated, "\(String(describing: error))")
                    let next = try await client.get(url)
                    #expect(next.body == CoverImage.jpeg(number: 5))
                    #expect(relay.connectionCount == 1)
                }
            }
        }
    }
}
