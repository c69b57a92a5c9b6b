import HTTPTypes
import OriginServer
import Platform
import Testing

@testable import CurlHTTP

/// Runs `body` with an origin and a client of it, and stops both afterwards.
func withOrigin(
    _ configure: (inout HTTPClientConfiguration) -> Void = { _ in }, _ body: (Origin, HTTPClient) async throws -> Void
) async throws {
    let origin = try await Origin.start()
    let result: Result<Void, any Error>
    do {
        result = .success(try await withClient(configure) { try await body(origin, $0) })
    } catch {
        result = .failure(error)
    }
    await origin.stop()
    try result.get()
}

/// Runs `body` with a client and shuts it down afterwards. The time limit is short, so that no test waits for long.
func withClient(
    _ configure: (inout HTTPClientConfiguration) -> Void = { _ in }, _ body: (HTTPClient) async throws -> Void
) async throws {
    var configuration = HTTPClientConfiguration(userAgent: "Sleeve/test")
    configuration.timeout = .seconds(20)
    configure(&configuration)
    let client = try HTTPClient(configuration: configuration)
    defer { client.loop.shutdown() }
    try await body(client)
}

extension HTTPClient {
    func get(_ url: String, _ fields: HTTPFields = [:]) async throws -> TransferResponse {
        try await response(for: TransferRequest(url: HTTPURL(url), headerFields: fields))
    }

    /// Starts requests in one turn, each over a connection of its own, and waits for their ends.
    func getTogether(_ urls: [String]) async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        for url in urls { start(TransferRequest(url: try HTTPURL(url))) { _ in continuation.yield() } }
        for await _ in ends.prefix(urls.count) {}
    }

    /// The error that `url` ends with; an issue when it does not.
    func failure(_ url: String, _ location: SourceLocation = #_sourceLocation) async -> TransferError? {
        do {
            let response = try await get(url)
            Issue.record("\(url) was answered with \(response.head.status.code)", sourceLocation: location)
        } catch let error as TransferError {
            return error
        } catch {
            Issue.record("\(url): \(error)", sourceLocation: location)
        }
        return nil
    }
}
