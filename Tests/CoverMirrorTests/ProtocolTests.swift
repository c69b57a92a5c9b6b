import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// HTTP/1.0, malformed requests, and malformed responses of the origin.
@Suite(.timeLimit(.minutes(5))) struct ProtocolTests {
    @Test(arguments: [
        "HTTP/1.1 000 X", "HTTP/1.1 999 X", "HTTP/1.1 600 X", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x",
        "HTTP/1.1 304 Not Modified\r\nETag: \"x\"",
    ])
    func `a status that is none of HTTP, or an unasked 304, is answered with 502`(head: String) async throws {
        try await withListener(answer: "\(head)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") { listener in
            try await withMirror(of: listener.url) { stage in
                for method in ["GET", "HEAD", "POST"] {
                    let reply = try await stage.send(method, "/a")
                    #expect(reply.status == 502, "\(method)")
                }
            }
        }
    }

    @Test func `a 304 that the client asked for is passed on`() async throws {
        let answer = "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nConnection: close\r\n\r\n"
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                let reply = try await stage.send("HEAD", "/a", ["If-None-Match": "\"x\""])
                #expect(reply.status == 304)
            }
        }
    }

    @Test func `an HTTP/1.0 client gets neither interim responses nor chunks`() async throws {
        let answer = """
            HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n
            """
        for maximumSize in [1, 1_000] {
            try await withListener(answer: answer) { listener in
                try await withMirror(of: listener.url, { $0.maximumSize = maximumSize }) { stage in
                    let reply = try await onThread {
                        let wire = try Wire(port: stage.port)
                        try wire.send("GET /a HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n")
                        return try wire.drain()
                    }
                    #expect(reply.text.hasPrefix("HTTP/1.0 200 OK\r\n") && reply.text.hasSuffix("\r\n\r\nhi"))
                    #expect(!reply.text.lowercased().contains("transfer-encoding") && reply.ending == .closed)
                }
            }
        }
    }

    @Test func `an HTTP/1.0 connection stays open if the client asks for it and the length is known`() async throws {
        try await withMirror { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                for _ in 1...2 {
                    try wire.send("GET /covers/1.jpg HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    let reply = try wire.reply()
                    #expect(reply.status == 200 && reply.fields["connection"] == "keep-alive")
                    #expect(reply.body == CoverImage.jpeg(number: 1))
                }
                try wire.send("GET /covers/1.jpg HTTP/1.0\r\n\r\n")
                let last = try wire.reply()
                #expect(last.fields["connection"] == "close" && last.body == CoverImage.jpeg(number: 1))
                #expect(try wire.drain().ending == .closed)
            }
        }
    }

    @Test(arguments: [
        ("GET /a HTTP/1.1\r\n\r\n", 400), ("GET /a HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: local host\r\n\r\n", 400), ("GET /a HTTP/1.1\r\nHost: a@localhost\r\n\r\n", 400),
        ("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n", 501),
        ("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (
            "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            400
        ),
        (
            "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400
        ),
        ("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("GET http://10.1.2.3/x HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n", 421),
        ("GET http://127.0.0.1:9/x HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n", 421),
        ("GET https://localhost/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET http://evil.example/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ])
    func `a request that is no HTTP/1.1, or for another server, is refused and ends the connection`(
        text: String, status: Int
    ) async throws {
        try await withMirror { stage in
            let (reply, rest) = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(text + "GET /covers/1.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return (try wire.reply(), try wire.drain())
            }
            #expect(reply.status == status, "\(reply.head)")
            #expect(rest.body.isEmpty && stage.origin.requestCount == 0, "what follows is no request")
        }
    }

    @Test func `a refusal follows the responses to earlier requests`() async throws {
        try await withMirror { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", "/covers/1.jpg") + "GET /a HTTP/1.1\r\n\r\n")
                #expect(try wire.reply().body == CoverImage.jpeg(number: 1))
                #expect(try wire.reply().status == 400)
            }
        }
    }

    @Test func `a target in absolute form for the mirror itself is answered`() async throws {
        try await withMirror { stage in
            for authority in ["127.0.0.1:\(stage.port)", "localhost:\(stage.port)"] {
                let reply = try await stage.send("GET", "http://\(authority)/covers/1.jpg", ["Host": "evil.example"])
                #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: 1))
            }
        }
    }

    @Test func `a client that closes its side of the connection gets the rest of the response`() async throws {
        try await withMirror { stage in
            let path = "/covers/1.jpg?size=5000000"
            let whole = try await stage.get(path).body
            for version in ["1.0", "1.1"] {
                let (head, rest) = try await onThread {
                    let wire = try Wire(port: stage.port)
                    try wire.send("GET \(path) HTTP/\(version)\r\nHost: localhost\r\n\r\n")
                    let head = try wire.reply(toHead: true)
                    try wire.endSending()
                    return (head, try wire.drain())
                }
                let isWhole = rest.body == whole
                #expect(head.status == 200 && isWhole)
            }
        }
    }
}
