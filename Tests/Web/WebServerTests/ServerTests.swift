import HTTPTypes
import Testing
import Wire

@testable import WebServer

/// The server against plain clients, which see what a library hides.
@Suite(.timeLimit(.minutes(2))) struct ServerTests {
    /// Answers by path.
    private struct Echo: Responder {
        var limit = 1_000
        /// Holds `/held` until the client leaves.
        let held = AsyncStream.makeStream(of: String.self)

        func admit(_ request: Request) -> Admission {
            request.path == "/refused"
                ? .refuse(text("refused", status: .forbidden))
                : .accept(limit: limit, above: { text("too large", status: .contentTooLarge) }, answer: { answer($0) })
        }

        private func answer(_ request: Request) -> Answer {
            switch request.path {
            case "/held":
                .later { [held] in
                    await request.client.whileConnected {
                        held.continuation.yield("began")
                        try? await Task.sleep(for: .seconds(3_600))
                        held.continuation.yield("cancelled")
                    }
                    return text("late")
                }
            case "/large":
                .now(
                    Response(
                        status: .ok, body: .pieces(count: 50_000_000) { _, most in [UInt8](repeating: 1, count: most) })
                )
            case "/short":
                .now(Response(status: .ok, body: .pieces(count: 100) { offset, _ in offset == 0 ? [1] : [] }))
            case "/stream":
                .later {
                    let stream = BodyStream()
                    Task {
                        for piece in ["one ", "two ", "three"] { _ = await stream.write(Array(piece.utf8)) }
                        stream.finish()
                    }
                    return Response(status: .ok, body: .stream(stream))
                }
            default:
                .later { text("\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))") }
            }
        }

        var busy: Response { text("busy", status: .serviceUnavailable) }
    }

    private func withServer(
        _ echo: Echo = Echo(), timeouts: ConnectionTimeouts = ConnectionTimeouts(), bodies: Int = 1 << 20,
        _ body: (Server) async throws -> Void
    ) async throws {
        let server = try Server(
            host: "127.0.0.1", port: 0, hosts: AllowedHosts(listening: "127.0.0.1"), timeouts: timeouts, bodies: bodies,
            echo)
        let result: Result<Void, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        await server.close()
        try result.get()
    }

    private func wire(_ server: Server, _ text: String) async throws -> Wire {
        try await onThread {
            let wire = try Wire(port: server.port)
            try wire.send(text)
            return wire
        }
    }

    private func head(_ line: String, _ fields: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
    }

    @Test func `requests on one connection are answered in order, even if they come together`() async throws {
        try await withServer { server in
            let texts = (0..<20).map { head("POST /\($0)?a=%20", "Content-Length: 3\r\n") + "b\($0 % 10)c" }
            let wire = try await wire(server, texts.joined())
            for index in 0..<20 {
                let reply = try await onThread { try wire.reply() }
                #expect(reply.status == 200 && reply.text == "POST /\(index)?a=%20 b\(index % 10)c")
            }
        }
    }

    @Test func `a body in chunks is one body, and a stream has chunks`() async throws {
        try await withServer { server in
            let wire = try await wire(
                server, head("PUT /a", "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n2;e=f\r\nyz\r\n0\r\nT: u\r\n\r\n")
            #expect(try await onThread { try wire.reply().text } == "PUT /a xyz")
            let stream = try await onThread {
                try wire.send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return try wire.reply()
            }
            #expect(stream.text == "one two three" && stream.fields["transfer-encoding"] == "chunked")
        }
    }

    @Test func `HEAD has the fields of GET, and the next request on its connection is answered`() async throws {
        try await withServer { server in
            let wire = try await wire(server, head("HEAD /a") + head("GET /b"))
            let (first, second) = try await onThread { (try wire.reply(toHead: true), try wire.reply()) }
            #expect(first.fields["content-length"] == "\("HEAD /a ".utf8.count)" && second.text == "GET /b ")
        }
    }

    @Test(arguments: [
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 1x\r\n", "Bad Name: x\r\n", "Host: other\r\n",
    ])
    func `a request whose framing is a matter of opinion ends its connection`(fields: String) async throws {
        try await withServer { server in
            let wire = try await wire(server, head("POST /a", fields) + "0\r\n\r\n" + head("GET /smuggled"))
            let (reply, rest) = try await onThread { (try wire.reply(), try wire.drain()) }
            // libmicrohttpd 0.9.75 writes the head of its own refusals twice.
            #expect((400...499).contains(reply.status) && !rest.text.contains("smuggled") && rest.ending == .closed)
        }
    }

    @Test func `a body above the limit is refused before it is read, and its sender gets the response`() async throws {
        try await withServer { server in
            for framing in ["Content-Length: 2000000\r\n", "Transfer-Encoding: chunked\r\n"] {
                let reply = try await onThread {
                    let wire = try Wire(port: server.port)
                    try wire.send(head("POST /a", framing) + "100000\r\n")
                    // The server has answered: that it no longer takes this must not cost the response.
                    _ = try? wire.send([UInt8](repeating: 1, count: 1 << 20))
                    return try wire.reply()
                }
                #expect(reply.status == 413 && reply.text == "too large\n", "\(framing)")
            }
            let refused = try await wire(server, head("POST /refused", "Content-Length: 5\r\nExpect: 100-continue\r\n"))
            #expect(try await onThread { try refused.reply().status } == 403)
        }
    }

    @Test func `bodies that come at the same time hold no more than the server's memory for them`() async throws {
        try await withServer(Echo(limit: 1 << 20), bodies: 1 << 20) { server in
            let first = try await wire(
                server, head("POST /a", "Content-Length: 1000000\r\n") + String(repeating: "x", count: 999_999))
            try await eventually { server.bodies.inUse == 999_999 }
            let second = try await wire(
                server, head("POST /b", "Content-Length: 200000\r\n") + String(repeating: "y", count: 200_000))
            #expect(try await onThread { try second.reply().status } == 503)
            let reply = try await onThread {
                try first.send("x")
                return try first.reply()
            }
            #expect(reply.status == 200)
            try await eventually { server.bodies.inUse == 0 }
        }
    }

    @Test func `the work for a client that leaves is cancelled`() async throws {
        let echo = Echo()
        var events = echo.held.stream.makeAsyncIterator()
        try await withServer(echo) { server in
            var client: Wire? = try await wire(server, head("GET /held"))
            #expect(await events.next() == "began" && client != nil)
            client = nil
            #expect(await events.next() == "cancelled")
            try await eventually { server.openConnections == 0 }
        }
    }

    @Test func `closing ends requests that wait and clients that read nothing`() async throws {
        let echo = Echo()
        var events = echo.held.stream.makeAsyncIterator()
        var clients: [Wire] = []
        try await withServer(echo) { server in
            for path in ["/held", "/large", "/stream"] { clients.append(try await wire(server, head("GET \(path)"))) }
            #expect(await events.next() == "began")
        }
        #expect(await events.next() == "cancelled")
        for client in clients { #expect(try await onThread { try client.drain().ending } != .complete) }
    }

    @Test
    func
        `a head that does not come, and a response that is not read, end the connection; a client that waits keeps it`()
        async throws
    {
        let echo = Echo()
        var events = echo.held.stream.makeAsyncIterator()
        try await withServer(echo, timeouts: ConnectionTimeouts(idle: .milliseconds(300), stall: .milliseconds(300))) {
            server in
            let slow = try await wire(server, "GET / HT")
            let greedy = try await wire(server, head("GET /large"))
            let waiting = try await wire(server, head("GET /held"))
            #expect(await events.next() == "began")
            #expect(try await onThread { try slow.drain().body }.isEmpty)
            try await eventually { server.openConnections == 1 }
            #expect(try await onThread { try greedy.drain().body.count } < 50_000_000)
            _ = waiting
        }
    }

    @Test func `a client that leaves within a head ends its connection, and one that pipelines and leaves its request`()
        async throws
    {
        let echo = Echo()
        var events = echo.held.stream.makeAsyncIterator()
        try await withServer(echo) { server in
            for _ in 0..<100 { _ = try await wire(server, "GET / HTTP/1.1\r\nHo") }
            try await eventually { server.openConnections == 0 }
            var client: Wire? = try await wire(server, head("GET /held") + head("GET /next"))
            #expect(await events.next() == "began" && client != nil)
            client = nil
            #expect(await events.next() == "cancelled")
        }
    }

    @Test func `refused clients that stay leave the process its descriptors`() async throws {
        try await withServer { server in
            var clients: [Wire] = []
            for _ in 0..<200 { clients.append(try await wire(server, head("GET /", "Bad Name: x\r\n"))) }
            for client in clients { #expect(try await onThread { try client.reply().status } == 400) }
            #expect(server.lingeringConnections <= 64)
        }
    }

    @Test func `a query may have any number of parameters`() async throws {
        try await withServer { server in
            let query = String(repeating: "x&", count: 3_000) + "last=%41"
            let wire = try await wire(server, head("GET /a?\(query)"))
            #expect(try await onThread { try wire.reply().text } == "GET /a?\(query) ")
        }
    }

    @Test func `a field with a CR is refused (RFC 9110 section 5.5)`() async throws {
        try await withServer { server in
            let wire = try await wire(server, head("GET /a", "X: a\rb\r\n"))
            #expect(try await onThread { try wire.reply().status } == 400)
        }
    }

    @Test func `a body that ends before its length ends the connection`() async throws {
        try await withServer { server in
            let wire = try await wire(server, head("GET /short") + head("GET /next"))
            let reply = try await onThread { try wire.drain() }
            #expect(reply.text.hasSuffix("\r\n\r\n\u{1}") && reply.ending == .closed)
        }
    }
}

private func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
        status: status, headers: [.contentType: "text/plain"],
        body: .bytes(Array((status == .ok ? text : text + "\n").utf8)))
}
