import HTTPTypes
import Testing

@testable import CurlHTTP

@Suite struct NotModifiedHeadTests {
    private func read(_ text: String) -> (length: Int, lines: String) {
        var lines = Array("before\n".utf8)
        let length = Array(text.utf8).withUnsafeBytes { NotModifiedHead.read($0, into: &lines) }
        return (length, String(decoding: lines.dropFirst(7), as: UTF8.self))
    }

    @Test("the kept fields come as lines, and nothing behind the head is touched")
    func usual() {
        let head =
            "HTTP/1.1 304 Not Modified\r\nServer: x\r\nDATE:  now \r\nConnection: Keep-Alive\r\nETag:W/\"a\"\r\n\r\n"
        let (length, lines) = read(head + "HTTP/1.1 200 OK\r\n")
        #expect(length == head.utf8.count && lines == "date: now\netag: W/\"a\"\n")
    }

    @Test("what is not whole, or asks for more than to be kept, is left to others, and leaves nothing behind")
    func left() {
        let start = "HTTP/1.1 304 Same\r\nETag: \"a\"\r\n"
        let rest = [
            "Connection: close\r\n\r\n", "Retry-After: 5\r\n\r\n", "RateLimit: r=1\r\n\r\n", "Location: /a\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n", "ETag: \"b\"\r\n\r\n", "Content-Length: many\r\n\r\n",
            " folded\r\n\r\n",
            "Vary:\r\n\r\n", "Date: \u{7F}\r\n\r\n", "Date: \u{1}\r\n\r\n", "X: ü\r\n\r\n", "no colon\r\n\r\n",
            ": x\r\n\r\n",
            "X : y\r\n\r\n", "X: \(String(repeating: "x", count: 30))\t\r\n\r\n", "X: y\n\r\n", "\r", "Da", "",
        ]
        for rest in rest {
            let (length, lines) = read(start + rest)
            #expect(length == 0 && lines.isEmpty, "\(rest)")
        }
        for head in [
            "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 304 Same\r\n\r\n", "HTTP/1.1 3044\r\n\r\n", "HTTP/1.1 304", "",
        ] {
            let length = read(head).length
            #expect(length == 0, "\(head)")
        }
        let long = read("HTTP/1.1 304 Same\r\nETag: \"\(String(repeating: "x", count: 1_024))\"\r\n\r\n")
        #expect(long.length == 0 && long.lines.isEmpty)
    }

    @Test("it says of every head what the way through PlainHead says, or leaves it")
    func equality() {
        var random = SystemRandomNumberGenerator()
        let lines = [
            "ETag: \"a\"", "etag:\"b\"", "Date: Mon, 01 Jan 2024 00:00:00 GMT", "Age: 5", "Vary: Accept", "X-A: b",
            "Expires: 0", "Last-Modified: then ", "Cache-Control: max-age=5, public", "Content-Length: 7",
            "Content-Type: image/jpeg", "Connection: keep-alive", "Server: s", "Retry-After: 1", "Connection: close",
            "Set-Cookie: a=\"b\"; c", "X: \u{9}", "Date : x",
        ]
        var taken = 0
        for _ in 0..<5_000 {
            let chosen = (0..<Int.random(in: 0...6, using: &random)).map { _ in lines.randomElement(using: &random)! }
            let text = "HTTP/1.1 304 Not Modified\r\n" + chosen.map { $0 + "\r\n" }.joined() + "\r\n"
            let (length, told) = read(text)
            if length == 0 { continue }
            taken += 1
            guard case .whole(let head, let whole) = Array(text.utf8).withUnsafeBytes({ PlainHead.read($0) }) else {
                Issue.record("\(text)")
                return
            }
            let kept = head.fields.filter { $0.name != .contentType }
            let slow = kept.map { "\($0.name.canonicalName): \($0.value)\n" }.joined()
            #expect(length == whole && told == slow && head.isKeptAlive, "\(text)")
            if told != slow { return }
        }
        #expect(taken > 500)
    }
}
