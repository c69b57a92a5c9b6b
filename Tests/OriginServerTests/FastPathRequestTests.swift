import NIOCore
import Testing

@testable import OriginServer

@Suite("Fast-path requests")
struct FastPathRequestTests {
    private func parse(_ text: String) -> (request: FastPathRequest?, rest: String) {
        var buffer = ByteBuffer(string: text)
        let request = FastPathRequest(consuming: &buffer)
        return (request, String(buffer: buffer))
    }

    @Test("a request is removed from the front of the buffer, and the next one stays")
    func consumes() {
        let first = "GET /covers/17.jpg HTTP/1.1\r\nHost: a:1\r\nuser-agent: b\r\nACCEPT: */*\r\n\r\n"
        let (request, rest) = parse(first + "GET /x")
        #expect(request?.number == 17)
        #expect(rest == "GET /x")
        #expect(parse("GET /covers/0.jpg HTTP/1.1\r\n\r\n").request?.number == 0)
        let delayed = parse("GET /covers/3.jpg?delay=50 HTTP/1.1\r\n\r\n").request
        #expect(delayed?.number == 3 && delayed?.delay == 50)
    }

    @Test("a request with another method, version, query, number or field is refused")
    func refuses() {
        for line in [
            "GET /covers/1.jpg?a HTTP/1.1", "GET /covers/1.jpg?delay=12345678 HTTP/1.1",
            "GET /covers/1.jpg?delay=5&size=1 HTTP/1.1", "GET /covers/1.jpg?delay= HTTP/1.1",
            "HEAD /covers/1.jpg HTTP/1.1", "GET /covers/1.jpg HTTP/1.0",
            "GET /covers/01.jpg HTTP/1.1", "GET /covers/.jpg HTTP/1.1", "GET /covers/1.png HTTP/1.1",
            "GET /covers/1234567890123456789.jpg HTTP/1.1", "GET /covers/1.jpg HTTP/1.1\r\nIf-None-Match: *",
            "GET /covers/1.jpg HTTP/1.1\r\nRange: bytes=0-1", "GET /covers/1.jpg HTTP/1.1\r\nConnection: close",
            "GET /covers/1.jpg HTTP/1.1\r\nContent-Length: 1", "GET /covers/1.jpg HTTP/1.1\r\nHostname: a",
            "GET /covers/1.jpg HTTP/1.1\r\nUser\rAgent: a", "GET /covers/1.jpg HTTP/1.1\r\nHost: a\rb",
            "GET /covers/1.jpg HTTP/1.1\r\nHost: a\nb",
        ] {
            let (request, rest) = parse(line + "\r\n\r\n")
            #expect(request == nil, "\(line)")
            #expect(rest == line + "\r\n\r\n")
        }
    }

    @Test("an incomplete request is refused")
    func incomplete() {
        let text = "GET /covers/17.jpg HTTP/1.1\r\nHost: a\r\n\r\n"
        for count in 0..<text.utf8.count {
            let beginning = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            #expect(parse(beginning).request == nil)
        }
    }
}
