import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

/// RFC 9112 section 9.2: what arrives on a connection without a request is no response.
@Suite(.timeLimit(.minutes(5))) struct IdleConnectionTests {
    /// Bytes that servers send on idle connections.
    enum Stray: CaseIterable {
        case response, timeout, badRequest, newline, body, end

        var bytes: [UInt8] {
            switch self {
            case .response: httpResponse("200 OK", [], Array("another".utf8))
            case .timeout: Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8)
            case .badRequest: Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
            case .newline: Array("\r\n".utf8)
            case .body: Array("the body of a 304".utf8)
            case .end: []
            }
        }
    }

    @Test(arguments: Stray.allCases) func `bytes on an idle connection are no response to the next request`(
        stray: Stray
    ) async throws {
        try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { server in
            try await withClient { client in
                for number in 0..<5 {
                    let response = try await client.get(server.url + "/\(number)")
                    #expect(response.body.elementsEqual("/\(number)".utf8))
                    let connection = try #require(server.requests.last?.connection)
                    if stray == .end { server.endSending(on: connection) }
                    // After a whole response that nobody asked for, each connection ends with its first one.
                    let isOpen = stray != .end && (stray != .response || number < 1)
                    #expect(server.send(stray.bytes, on: connection) || !isOpen)
                }
            }
            // Each request was sent once, on a connection of its own.
            #expect(server.requests.map(\.target) == (0..<5).map { "/\($0)" })
            #expect(server.requests.map(\.connection) == Array(0..<5))
        }
    }

    @Test func `a request meets bytes that wait on one connection, and then opens another one`() async throws {
        try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { server in
            try await withClient { client in
                try await client.getTogether((0..<4).map { server.url + "/\($0)" })
                for connection in 0..<4 { #expect(server.send("\r\n".utf8, on: connection)) }
                _ = try await client.get(server.url + "/next")
                #expect(server.requests.last?.connection == 4)
                try await eventually { (0..<4).count { server.send("\r\n".utf8, on: $0) } == 3 }
            }
        }
    }

    @Test func `a POST finds bytes that wait, and is sent once`() async throws {
        try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { server in
            try await withClient { client in
                _ = try await client.get(server.url + "/first")
                #expect(server.send("HTTP/1.1 408 Request Timeout\r\n\r\n".utf8, on: 0))
                let post = TransferRequest(url: try HTTPURL(server.url + "/post"), post: Array("edit".utf8))
                let response = try await client.response(for: post)
                #expect(response.body.elementsEqual("/post".utf8))
            }
            #expect(server.requests.map(\.connection) == [0, 1])
            #expect(server.requests.last?.body == Array("edit".utf8))
        }
    }

    @Test func `bytes that cross a request and are no HTTP cost a connection and no attempt`() async throws {
        try await withScriptedServer({ request in
            let crosses = request.target == "/1" && request.connection == 0
            return crosses ? Array("the body of a 304".utf8) : httpResponse("200 OK", [], Array(request.target.utf8))
        }) { server in
            try await withClient { client in
                for number in 0..<3 {
                    var request = TransferRequest(url: try HTTPURL(server.url + "/\(number)"))
                    request.onConnection = { $0 != .resending }
                    let response = try await client.response(for: request)
                    #expect(response.body.elementsEqual("/\(number)".utf8))
                }
            }
            #expect(server.requests.map(\.target) == ["/0", "/1", "/1", "/2"])
            #expect(server.requests.map(\.connection) == [0, 0, 1, 1])
        }
    }

    @Test func `a new connection without HTTP fails after one request, and no POST is sent twice`() async throws {
        try await withScriptedServer({ request in
            request.target == "/get" ? httpResponse("200 OK") : Array("no HTTP at all".utf8)
        }) { server in
            try await withClient { client in
                #expect(await client.failure(server.url + "/new")?.kind == .broken)
                _ = try await client.get(server.url + "/get")
                let post = TransferRequest(url: try HTTPURL(server.url + "/post"), post: Array("edit".utf8))
                await #expect(throws: TransferError.self) { try await client.response(for: post) }
            }
            #expect(server.requests.map(\.target) == ["/new", "/get", "/post"])
        }
    }

    @Test func `a status line of HTTP/2 over HTTP/1.1 lets no connection carry several requests`() async throws {
        try await withScriptedServer({ request in
            let body = Array(request.target.utf8)
            let lie = Array("HTTP/2 200\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
            return request.target == "/0" ? lie : httpResponse("200 OK", [], body)
        }) { server in
            try await withClient { client in
                for round in 0..<5 {
                    try await withThrowingTaskGroup(of: Bool.self) { group in
                        for number in 0..<12 {
                            let target = "/\(round * 12 + number)"
                            group.addTask { try await client.get(server.url + target).body.elementsEqual(target.utf8) }
                        }
                        for try await isOwn in group { #expect(isOwn) }
                    }
                }
            }
        }
    }

    @Test func `a quiet connection is used again`() async throws {
        try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { server in
            try await withClient { client in
                for number in 0..<5 { _ = try await client.get(server.url + "/\(number)") }
            }
            #expect(server.requests.map(\.connection) == [0, 0, 0, 0, 0])
        }
    }
}

/// Connections to a proxy that takes few of them.
@Suite(.timeLimit(.minutes(5))) struct ProxyConnectionTests {
    @Test func `an idle connection is closed before one too many is opened`() async throws {
        try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { first in
            try await withScriptedServer({ httpResponse("200 OK", [], Array($0.target.utf8)) }) { second in
                try await withClient { client in
                    for (server, most) in [(first, 8), (second, 2), (first, 2), (second, 1), (first, 1)] {
                        var request = TransferRequest(url: try HTTPURL(server.url + "/1"))
                        request.proxy = ("the proxy", most)
                        _ = try await client.response(for: request)
                    }
                }
                #expect(first.requests.map(\.connection) == [0, 0, 0])
                #expect(second.requests.map(\.connection) == [0, 0])
                try await withClient { client in
                    for server in [first, second, first] {
                        var request = TransferRequest(url: try HTTPURL(server.url + "/2"))
                        request.proxy = ("the proxy", 1)
                        _ = try await client.response(for: request)
                    }
                }
                #expect(first.requests.map(\.connection) == [0, 0, 0, 1, 2])
            }
        }
    }
}
