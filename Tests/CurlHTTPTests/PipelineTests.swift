import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

@Suite("RFC 9112 section 9.3.2: pipelines", .timeLimit(.minutes(10))) struct PipelineTests {
    @Test(
        "all go over one connection; what is no plain 304 goes on by itself, and what is behind it comes all the same")
    func mixed() async throws {
        try await withOrigin { origin, client in
            let tags = try await tags(origin, client, 1...8)
            // One of libcurl's, and one of those without it, which is idle.
            let connections = origin.connectionCount
            let taker = Taker()
            try await client.run(
                taker,
                to: (1...8).map { number in
                    switch number {
                    case 3: (origin.coverURL(3) + "?size=300000", "\"another\"")
                    case 5: (origin.coverURL(5) + "?status=404", "\"another\"")
                    case 6: (origin.coverURL(6) + "?status=503&retry-after=7", "\"another\"")
                    default: (origin.coverURL(number), tags[number - 1])
                    }
                })
            #expect(taker.stood == [0, 1, 3, 6, 7])
            #expect(taker.told.allSatisfy { $0.contains("etag: ") && $0.hasSuffix("\n") })
            let bodies = taker.responses.mapValues { Array($0.body.bytes) }
            #expect(bodies[2] == CoverImage.jpeg(number: 3, aboutBytes: 300_000))
            #expect(taker.responses[4]?.head.status == .notFound)
            #expect(taker.responses[5]?.head.headerFields[.retryAfter] == "7")
            #expect(taker.responses.count == 3 && taker.failures.isEmpty && taker.unanswered == 0)
            #expect(origin.connectionCount == connections)
            // And the connection serves whoever comes next.
            _ = try await client.get(origin.coverURL(1))
            #expect(origin.connectionCount == connections)
        }
    }

    @Test("a body of unknown length goes to libcurl, and what is behind it gets no answer")
    func unusual() async throws {
        try await withOrigin { origin, client in
            let tags = try await tags(origin, client, 1...3)
            try await client.met(origin.url)
            let taker = Taker()
            try await client.run(
                taker,
                to: [
                    (origin.coverURL(1), tags[0]), (origin.coverURL(2) + "?chunked=1", "\"another\""),
                    (origin.coverURL(3), tags[2]),
                ])
            #expect(taker.stood == [0] && taker.unanswered == 1)
            #expect(taker.responses[1].map { Array($0.body.bytes) } == CoverImage.jpeg(number: 2))
        }
    }

    @Test("a server that closes after its answer leaves the others without one", arguments: [true, false])
    func closed(says: Bool) async throws {
        let answer = "HTTP/1.1 304 Same\r\nETag: \"a\"\r\n" + (says ? "Connection: close\r\n\r\n" : "\r\n")
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                try await client.met(listener.url)
                let taker = Taker()
                try await client.run(taker, to: (1...4).map { (listener.url + "/\($0)", "\"a\"") })
                // The rest of the requests was unread, so that the connection may be reset before the answer is seen.
                #expect(taker.stood.count + taker.responses.count + taker.failures.count <= 1)
                #expect(taker.unanswered >= 3)
                if !taker.responses.isEmpty { #expect(taker.isCutShort) }
            }
        }
    }

    @Test("more than was asked for is nobody's answer")
    func excess() async throws {
        let answer = "HTTP/1.1 304 Same\r\nETag: \"a\"\r\n\r\n"
        try await withListener(answer: answer + answer + answer) { listener in
            try await withClient { client in
                try await client.met(listener.url)
                let taker = Taker()
                try await client.run(taker, to: [(listener.url + "/1", "\"a\""), (listener.url + "/2", "\"a\"")])
                #expect(taker.stood.count <= 2 && taker.failures.isEmpty)
            }
        }
    }

    @Test("a server that says nothing is waited for as long as is allowed; that is the first one's failure")
    func silent() async throws {
        try await withListener(answer: nil) { listener in
            try await withClient {
                $0.timeout = .milliseconds(100)
            } _: { client in
                try await client.met(listener.url)
                let taker = Taker()
                try await client.run(taker, to: (1...3).map { (listener.url + "/\($0)", "\"a\"") })
                #expect(taker.stood.isEmpty && taker.unanswered == 2)
                #expect(taker.failures[0]?.kind == .timeout)
            }
        }
    }

    @Test("cancelled, it ends, and what has no answer gets none")
    func cancelled() async throws {
        try await withOrigin { origin, client in
            try await client.met(origin.url)
            let taker = Taker()
            let pipeline = try await client.begin(taker, to: (1...3).map { (origin.coverURL($0) + "?hold=1", "\"a\"") })
            while origin.requestCount == 0 { await Task.yield() }
            await client.cancel(pipeline)
            await taker.ended()
            #expect(taker.unanswered == 3 && taker.failures.isEmpty)
            origin.release()
        }
    }

    @Test("a server nobody has met gets none")
    func unknown() async throws {
        try await withOrigin { origin, client in
            let pipeline = Pipeline(try written([(origin.coverURL(1), "\"a\"")]), 0..<1)
            let start = await client.start(pipeline, for: Taker())
            #expect(start == .unknown && origin.requestCount == 0)
        }
    }

    private func tags(_ origin: Origin, _ client: HTTPClient, _ numbers: ClosedRange<Int>) async throws -> [String] {
        var tags: [String] = []
        for number in numbers {
            let response = try await client.get(origin.coverURL(number))
            tags.append(try #require(response.head.headerFields[.eTag]))
        }
        return tags
    }
}

private func written(_ requests: [(url: String, tag: String)]) throws -> WrittenRequests {
    let written = WrittenRequests(to: try HTTPURL(requests[0].url), userAgent: "Sleeve/test")
    for (url, tag) in requests {
        written.add(try HTTPURL(url)) { $0 += "If-None-Match: \(tag)\r\n".utf8 }
    }
    return written
}

/// Takes down what it is told.
// because: told on the event loop alone, and read when all has ended.
private final class Taker: PipelineTaker, @unchecked Sendable {
    private(set) var stood: [Int] = []
    private(set) var told: [String] = []
    private(set) var unanswered = 0
    private(set) var isCutShort = false
    private(set) var responses: [Int: TransferResponse] = [:]
    private(set) var failures: [Int: TransferError] = [:]
    private let (endings, ending) = AsyncStream.makeStream(of: Void.self)

    func differs(_ pipeline: Pipeline, _ request: Int) -> PipelineDetour {
        let (going, gone) = AsyncStream.makeStream(of: Void.self)
        detours.append(going)
        let url = urls[request]
        var transfer = TransferRequest(url: url)
        transfer.followsRedirects = false
        return PipelineDetour(transfer) { [self] result in
            switch result {
            case .success(let response): responses[request] = response
            case .failure(let error): failures[request] = error
            }
            gone.finish()
        } started: { _ in
        }
    }

    func ended(_ pipeline: Pipeline) {
        stood = pipeline.stood.map(\.request)
        var start = 0
        for (_, end) in pipeline.stood {
            told.append(String(decoding: pipeline.told[start..<end], as: UTF8.self))
            start = end
        }
        unanswered = pipeline.range.count - pipeline.answered
        isCutShort = pipeline.isCutShort
        ending.finish()
    }

    var urls: [HTTPURL] = []
    private var detours: [AsyncStream<Void>] = []

    /// The pipeline, and what went on by itself.
    func ended() async {
        for await _ in endings {}
        for detour in detours { for await _ in detour {} }
    }
}

extension HTTPClient {
    fileprivate func met(_ url: String) throws { loop.met(try HTTPURL(url + "/"), at: "127.0.0.1") }

    fileprivate func begin(_ taker: Taker, to requests: [(url: String, tag: String)]) throws -> Pipeline {
        taker.urls = try requests.map { try HTTPURL($0.url) }
        let pipeline = Pipeline(try written(requests), requests.indices)
        #expect(start(pipeline, for: taker) == .started)
        return pipeline
    }

    /// Returns when all has ended.
    fileprivate func run(_ taker: Taker, to requests: [(url: String, tag: String)]) async throws {
        _ = try begin(taker, to: requests)
        await taker.ended()
    }
}
