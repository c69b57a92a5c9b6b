import HTTPTypes
import Testing

@testable import CurlHTTP

struct PlainHeadTests {
    private func read(_ text: String) -> PlainHead.Reading { Array(text.utf8).withUnsafeBytes { PlainHead.read($0) } }

    private func whole(_ text: String) throws -> (head: PlainHead, length: Int) {
        guard case .whole(let head, let length) = read(text) else { throw Unread(text: text) }
        return (head, length)
    }

    private struct Unread: Error { let text: String }

    @Test("a head gives its status, the fields a cache needs, and where the body begins and ends")
    func usual() throws {
        let text = "HTTP/1.1 200 OK\r\nServer: x\r\netag:\"a\" \r\nCONTENT-LENGTH: 12\r\nDate:\t now\r\n\r\n"
        let (head, length) = try whole(text + "the body")
        #expect(head.status == 200 && head.bodyLength == 12 && length == text.utf8.count && head.isKeptAlive)
        #expect(head.fields == [.eTag: "\"a\"", .date: "now"])
    }

    @Test("a 304 has no body, whatever length it tells (RFC 9110 section 15.4.5)")
    func notModified() throws {
        let head = try whole("HTTP/1.1 304 Not Modified\r\nContent-Length: 9000\r\nETag: W/\"b\"\r\n\r\n").head
        #expect(head.status == 304 && head.bodyLength == 0 && head.fields[.eTag] == "W/\"b\"")
        let brief = try whole("HTTP/1.1 304\r\n\r\n").head
        #expect(brief.bodyLength == 0)
    }

    @Test("a field that is sent twice is joined with commas, in the order of coming")
    func joined() throws {
        let head = try whole(
            "HTTP/1.1 404 No\r\nVary: a\r\nAge: 1\r\nvary: b\r\nVARY: c\r\nContent-Length: 0\r\n\r\n"
        ).head
        #expect(head.fields == [.vary: "a, b, c", .age: "1"])
    }

    @Test("nothing follows on a connection that is to be closed")
    func closing() throws {
        for (value, isKeptAlive) in [
            ("Close", false), ("keep-alive", true), ("Upgrade, Keep-Alive", true), ("x,close", false),
        ] {
            let head = try whole("HTTP/1.1 200 OK\r\nConnection: \(value)\r\nContent-Length: 0\r\n\r\n").head
            #expect(head.isKeptAlive == isKeptAlive)
        }
    }

    @Test("a head that ends anywhere before its end is incomplete, and never misread")
    func incomplete() {
        let text = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
        for length in 0..<text.utf8.count {
            guard case .incomplete = read(String(decoding: text.utf8.prefix(length), as: UTF8.self)) else {
                Issue.record("\(length) bytes")
                continue
            }
        }
    }

    @Test(
        "what is rare or out of order is not read",
        arguments: [
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", "HTTP/2 200\r\n\r\n", "ICY 200 OK\r\n\r\n",
            "<html><body>hello",
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 103 Early\r\nLink: a\r\n\r\n",
            "HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n",
            "HTTP/1.1 305 Proxy\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 407 Proxy\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 600 What\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 2xx OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\n", "HTTP/1.1 200 OK\r\n Content-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n folded\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\nContent-Length: 1\n\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\n\r\n",
            "HTTP/1.1 200 OK\r\nETag: \"\0\"\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nETag: \"\u{1}\"\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nETag: \"ü\"\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nETag: a\rContent-Length: 1\r\n\r\n",
        ])
    func unusual(text: String) {
        guard case .unusual = read(text) else {
            Issue.record("\(read(text))")
            return
        }
    }

    @Test("bytes at random are read without harm")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let start = Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nETag: \"a\"\r\n\r\n".utf8)
        for _ in 0..<20_000 {
            var bytes = start
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
            if case .whole(let head, let length) = bytes.withUnsafeBytes({ PlainHead.read($0) }) {
                #expect(length <= bytes.count && head.bodyLength >= 0)
            }
        }
    }
}
