import HTTPTypes
import OriginServer
import Platform
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(5))) struct ResumptionTests {
    private let whole = CoverImage.jpeg(number: 1, aboutBytes: 200_000)

    private func request(_ url: String, having count: Int, tag: String) throws -> TransferRequest {
        var request = TransferRequest(
            url: try HTTPURL(url), headerFields: [.range: "bytes=\(count)-", .ifRange: tag])
        request.continuing = PartialBody(body: Array(whole.prefix(count)), fields: [:])
        return request
    }

    private func withClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
        let client = try HTTPClient(configuration: HTTPClientConfiguration(userAgent: "test"))
        defer { client.loop.shutdown() }
        return try await body(client)
    }

    @Test("the rest is put behind what is there, and the response is as if it had come whole")
    func rest() async throws {
        try await withOrigin { origin, client in
            let first = try await client.response(
                for: TransferRequest(url: try HTTPURL(origin.coverURL(1) + "?size=200000")))
            let tag = try #require(first.head.headerFields[.eTag])
            let request = try request(origin.coverURL(1) + "?size=200000", having: 70_001, tag: tag)
            let response = try await client.response(for: request)
            #expect(response.head.status == .ok)
            #expect(response.body == whole)
            #expect(origin.partialResponseCount == 1)
        }
    }

    @Test("where there is another body by now it comes whole, in place of what was there")
    func changed() async throws {
        try await withOrigin { origin, client in
            let request = try request(origin.coverURL(2), having: 70_000, tag: "\"another\"")
            let response = try await client.response(for: request)
            #expect(response.body == CoverImage.jpeg(number: 2))
        }
    }

    @Test(
        "a part that is not the rest, or not all of it, is a broken transfer",
        arguments: ["bytes 7-9/10", "bytes 4-6/10", "bytes 4-6/9", "bytes 4-6", "nonsense", ""])
    func misplaced(range: String) async throws {
        let answer = "HTTP/1.1 206 Partial Content\r\nContent-Range: \(range)\r\nContent-Length: 3\r\n\r\nabc"
        try await withListener(answer: answer) { listener in
            let request = try request(listener.url + "/1.jpg", having: 4, tag: "\"a\"")
            let error = await #expect(throws: TransferError.self) {
                try await withClient { try await $0.response(for: request) }
            }
            #expect(error?.kind == .truncated)
        }
    }

    @Test("what came of a large body is told with the failure, that of a small one is not")
    func partial() async throws {
        try await withOrigin { origin, client in
            for (size, isTold) in [(200_000, true), (40_000, false)] {
                let request = TransferRequest(
                    url: try HTTPURL(origin.coverURL(1) + "?fault=truncate&size=\(size)"))
                let error = await #expect(throws: TransferError.self) { try await client.response(for: request) }
                #expect((error?.partial != nil) == isTold)
            }
        }
    }
}
