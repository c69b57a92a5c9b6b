import Foundation
import Testing
import Wire

@testable import CurlHTTP

/// A response that a server sends twice makes each later one on its connection the one before.
@Suite(.timeLimit(.minutes(5))) struct UnaskedAnswerTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", true), ("\r\n\r\nHTTP/1.0 302 Found\r\n", true), ("HTTP/1.1 304", true),
        ("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", true), ("HTTP/1.1 404 Not Found\r\n", true),
        ("HTTP/1.1 408 Request Time-out\r\n", false), ("HTTP/1.1 400 Bad Request\r\n\r\n", false),
        ("HTTP/1.1 503 Service Unavailable\r\nConnection: Close\r\n", false),
        ("HTTP/1.0 503 Service Unavailable\r\n", false),
        ("HTTP/1.1 100 Continue\r\n", false), ("\r\n", false),
        ("<!-- end of page -->", false), ("HTTP/1.1 20", false), ("HTTP/1.1 2x0 OK", false), ("", false),
    ])
    func `a whole response is another's, and what servers say on idle connections is not`(text: String, isAnswer: Bool)
    {
        #expect(UnaskedAnswer.begins(Array(text.utf8), isOver: false) == isAnswer)
        let isError = text.hasPrefix("HTTP/1.1 5") || text.hasPrefix("HTTP/1.1 4")
        #expect(UnaskedAnswer.begins(Array(text.utf8), isOver: true) == (isAnswer && !isError))
    }

    @Test func `over TLS more than 1 KiB is a response, and 320 bytes are if the connection goes on`() {
        func isAnswer(_ count: Int, _ type: UInt8 = 23, isOver: Bool = false) -> Bool {
            UnaskedAnswer.isEncrypted(in: [UInt8](repeating: type, count: count), isOver: isOver)
        }
        #expect(isAnswer(1_025, isOver: true) && isAnswer(320))
        #expect(!isAnswer(300), "a session ticket")
        #expect(!isAnswer(400, isOver: true), "a 408")
        #expect(!isAnswer(400, 22) && !isAnswer(0))
    }

    @Test func `an answer that is late by one is waited for as long as its server takes, and no other`() {
        let start = ContinuousClock.now
        /// How long after the last answer the next one may come, in milliseconds.
        func spare(_ roundTrip: Int, _ waits: [Int]) -> Double {
            var (pace, now) = (ConnectionPace(), start)
            pace.roundTrip = .milliseconds(roundTrip)
            for wait in waits {
                pace.send(at: now)
                now += .milliseconds(wait)
                pace.answer(at: now)
            }
            return pace.isSettledAt.map { ($0 - now) / .milliseconds(1) } ?? 0
        }
        #expect(ConnectionPace().isSettledAt == nil)
        #expect(spare(160, [160, 160]) == 0 && spare(0, [32, 32]) == 0, "each took its time")
        // A server's own time, after one of its answers came sooner.
        #expect(spare(0, [32, 1, 32]) == 38)
        #expect(spare(0, [320, 10]) == 25)
        // An answer cannot come before a round trip is over.
        #expect(spare(160, [160, 3]) == 167)
    }

    @Test func `the last 4,096 covers of a connection are known`() throws {
        var covers = RecentCovers()
        for number in 1...5_000 { covers.add(RequestedCover(try HTTPURL("http://a.example/\(number)"))) }
        let expected = try (905...5_000).map { try HTTPURL("http://a.example/\($0)").string }
        #expect(covers.all.count == 4_096 && Set(covers.all.map(\.url.string)) == Set(expected))
    }

    // MARK: Real sockets

    enum Discovery: CaseIterable {
        /// The next request, a look at what is idle, or the end of the connection finds what waits.
        case request, look, end
        /// libcurl reads it together with the end of a body.
        case read
    }

    private func answers(_ client: HTTPClient, looking: Bool = false) async -> [UnaskedAnswer] {
        await client.unaskedAnswers(looking)
    }

    @Test(arguments: Discovery.allCases)
    func `a response that is left over shows that the later ones of its connection may be another's`(
        discovery: Discovery
    ) async throws {
        @Sendable func answer(_ target: String) -> [UInt8] { httpResponse("200 OK", [], Array(target.utf8)) }
        try await withScriptedServer({ request in
            // The first one is sent twice; its copy has crossed the second request.
            switch request.target {
            case "/2": answer("/1") + (discovery == .read ? answer("/2") : [])
            default: answer(request.target)
            }
        }) { server in
            try await withClient {
                $0.maximumConnections = discovery == .end ? 1 : 64
            } _: { client in
                // libcurl closes the connection whose last use was earlier, by its clock of milliseconds.
                let other = try ScriptedServer { _ in
                    Thread.sleep(forTimeInterval: 0.005)
                    return answer("/")
                }
                defer { other.stop() }
                func body(_ target: String) async throws -> String {
                    var request = TransferRequest(url: try HTTPURL(server.url + target))
                    request.cover = RequestedCover(request.url)
                    return String(decoding: try await client.response(for: request).body, as: UTF8.self)
                }
                var bodies = [try await body("/1"), try await body("/2")]
                #expect(bodies == ["/1", "/1"], "no client can tell")
                if discovery != .read { #expect(server.send(answer("/2"), on: 0)) }
                let found: [UnaskedAnswer]
                switch discovery {
                case .request:
                    bodies = [try await body("/3")]
                    #expect(bodies == ["/3"])
                    found = await answers(client)
                case .look: found = await answers(client, looking: true)
                case .end:
                    _ = try await client.get(other.url)
                    found = await answers(client)
                case .read: found = await answers(client)
                }
                #expect(found.map { $0.covers.map(\.url.string) } == [[server.url + "/2"]])
                #expect(found.first?.origins == [server.url])
                // From now on, each request has a connection of its own.
                let count = server.requests.count
                bodies = []
                for number in 4...6 { bodies.append(try await body("/\(number)")) }
                #expect(bodies == ["/4", "/5", "/6"])
                let connections = server.requests.dropFirst(count).map(\.connection)
                #expect(Set(connections).count == 3 && !connections.contains(0))
                #expect(await answers(client, looking: true).isEmpty, "it is said once")
            }
        }
    }

    @Test(arguments: ["Connection: close", "X-Nothing: here"])
    func `a connection that ends is no shifted one`(field: String) async throws {
        try await withScriptedServer({ httpResponse("200 OK", [field], Array($0.target.utf8)) }) { server in
            try await withClient { client in
                for number in 1...4 {
                    _ = try await client.get(server.url + "/\(number)")
                    if !field.hasPrefix("Connection") { server.endSending(on: number - 1) }
                }
                #expect(await answers(client, looking: true).isEmpty)
                #expect(server.requests.map(\.connection) == [0, 1, 2, 3])
            }
        }
    }
}

extension HTTPClient {
    fileprivate func unaskedAnswers(_ looking: Bool) -> [UnaskedAnswer] {
        if looking { _ = loop.multi?.sockets.lookAtIdle() }
        return loop.multi?.sockets.takeUnaskedAnswers() ?? []
    }
}
