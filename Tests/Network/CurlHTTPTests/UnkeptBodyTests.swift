import HTTPTypes
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

/// Bodies that nobody keeps, and those that turn out to be unwanted.
@Suite(.timeLimit(.minutes(5))) struct UnkeptBodyTests {
    private static let page = "<html>moved</html>"
    private static let heads = ["HTTP/1.1 302 Found\r\nLocation: /real.jpg", "HTTP/1.1 404 Not Found"]
    private static let endings = [
        "Content-Length: 154\r\nConnection: close", "Content-Length: 154", "Content-Length: 99999999999",
        "Content-Length: 99999999999999999999", "Content-Length: 18\r\nContent-Length: 19",
        "Transfer-Encoding: chunked", "Content-Encoding: unknown\r\nContent-Length: 18",
        "Content-Encoding: gzip\r\nContent-Length: 18",
        "Connection: close",
    ]

    private func expectAnswer(_ response: TransferResponse, _ head: String, _ location: String) {
        #expect(response.head.status.code == (head.contains("302") ? 302 : 404), "\(head)")
        #expect(response.body.isEmpty && response.location == (head.contains("302") ? location : nil), "\(head)")
    }

    @Test(arguments: heads, endings)
    func `a redirect or a 404 is a response, however its body ends`(head: String, fields: String) async throws {
        try await withListener(answer: "\(head)\r\n\(fields)\r\n\r\n\(Self.page)") { listener in
            try await withClient { client in
                expectAnswer(try await client.get(listener.url), head, listener.url + "/real.jpg")
            }
        }
    }

    @Test(arguments: heads, ["", "Content-Length: 99999999999\r\n", "Transfer-Encoding: chunked\r\n"])
    func `of a redirect or a 404 whose body has no end little is read`(head: String, fields: String) async throws {
        let filler = String(repeating: "x", count: 65_536)
        let chunk = fields.contains("chunked") ? "10000\r\n\(filler)\r\n" : filler
        try await withListener(answer: "\(head)\r\n\(fields)\r\n", endless: chunk) { listener in
            try await withClient { client in
                expectAnswer(try await client.get(listener.url), head, listener.url + "/real.jpg")
                // What a socket's buffers hold, and more.
                #expect(listener.sent < 24 << 20)
            }
        }
    }

    @Test(arguments: heads)
    func `a redirect or a 404 whose body stops is a response long before the time-out`(head: String) async throws {
        let answer = Array("\(head)\r\nContent-Length: 154\r\n\r\n\(Self.page)".utf8)
        try await withScriptedServer { _ in
            answer
        } _: { server in
            try await withClient {
                $0.timeout = .seconds(600)
                $0.lowSpeedTime = 600
            } _: { client in
                expectAnswer(try await client.get(server.url), head, server.url + "/real.jpg")
            }
        }
    }

    @Test(arguments: [(60_000, 0), (70_000, 1)])
    func `up to 64 KiB of a body that nobody keeps are read for the next request to use its connection`(
        length: Int, connection: Int
    ) async throws {
        try await withScriptedServer { _ in
            httpResponse("404 Not Found", [], [UInt8](repeating: 120, count: length))
        } _: { server in
            try await withClient { client in
                for _ in 1...2 { _ = try await client.get(server.url) }
                #expect(server.requests.map(\.connection) == [0, connection])
            }
        }
    }

    @Test(arguments: [(403, 5, 5), (401, 4_000, 1_024), (400, 99_000, 0), (404, 5, 0), (302, 5, 0)])
    func `of a refusal the beginning is kept, if it is read`(status: Int, length: Int, kept: Int) async throws {
        try await withScriptedServer { _ in
            httpResponse("\(status) No", [], [UInt8](repeating: 120, count: length))
        } _: { server in
            try await withClient { client in
                for _ in 1...2 {
                    let response = try await client.get(server.url)
                    #expect(response.body.isEmpty && response.refusal == [UInt8](repeating: 120, count: kept))
                }
            }
        }
    }

    @Test func `a 304 has the length of what it confirms, and keeps its connection`() async throws {
        let answer = Array("HTTP/1.1 304 Not Modified\r\nContent-Length: 900000\r\n\r\n".utf8)
        try await withScriptedServer { _ in
            answer
        } _: { server in
            try await withClient { client in
                for _ in 1...2 {
                    let response = try await client.get(server.url)
                    #expect(response.head.status == .notModified)
                }
                #expect(server.requests.map(\.connection) == [0, 0])
            }
        }
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func `over HTTP/2 a long body that nobody keeps costs its stream, and not the connection`() async throws {
        try await withScriptedServer { _ in
            httpResponse("404 Not Found", [], [UInt8](repeating: 120, count: 500_000))
        } _: { server in
            try await Nginx.with(.http2, server: Nginx.proxy(to: server.port)) { nginx in
                try await withClient {
                    $0.certificateAuthorities = nginx.certificate
                } _: { client in
                    let first = try await client.get(nginx.url + "/1")
                    let second = try await client.get(nginx.url + "/2")
                    #expect(first.isHTTP2 && first.head.status == .notFound && second.head.status == .notFound)
                    #expect(first.timings.connection == second.timings.connection)
                }
            }
        }
    }

    // MARK: Whether a body is wanted

    @Test(arguments: [false, true]) func `a body that is not wanted is read up to 64 KiB or so`(
        hasLength: Bool
    ) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(hasLength ? "Content-Length: 30000000\r\n" : "")\r\n"
        try await withListener(answer: head, endless: String(repeating: "x", count: 65_536)) { listener in
            try await withClient { client in
                var request = TransferRequest(url: try HTTPURL(listener.url))
                request.isWanted = (64 << 10, { _ in false })
                let response = try await client.response(for: request)
                #expect(response.head.status == .ok && (64 << 10..<256 << 10).contains(response.body.count))
                #expect(listener.sent < 24 << 20)
            }
        }
    }

    @Test(arguments: [(1_000, 0), (500_000, 1)])
    func `whether a body is wanted is asked once, and of a short one never`(length: Int, calls: Int) async throws {
        let body = [UInt8](repeating: 120, count: length)
        try await withScriptedServer { _ in
            httpResponse("200 OK", [], body)
        } _: { server in
            try await withClient { client in
                let asked = Counter()
                var request = TransferRequest(url: try HTTPURL(server.url))
                request.isWanted = (64 << 10, { asked.count($0.count) })
                #expect(try await client.response(for: request).body == body)
                #expect(asked.lengths.count == calls && asked.lengths.allSatisfy { $0 >= 64 << 10 })
            }
        }
    }
}

private final class Counter: Sendable {
    private let state = Mutex<[Int]>([])
    var lengths: [Int] { state.withLock { $0 } }

    func count(_ length: Int) -> Bool {
        state.withLock { $0.append(length) }
        return true
    }
}
