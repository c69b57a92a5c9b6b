import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

/// Servers that would have a client take up memory or time without end. Each is real, and each costs what is bounded: what it
/// could send is counted, sockets' own buffers included.
@Suite(.timeLimit(.minutes(10))) struct HostileServerTests {
    /// The limit of the bytes in socket buffers, beside those that a client has read.
    private static let slack = 24 << 20

    /// The failure that such an answer ends with; afterwards the client goes on working.
    private func failure(
        _ answer: String, endless: String? = nil, _ configure: (inout HTTPClientConfiguration) -> Void = { _ in },
        most: Int = slack, _ location: SourceLocation = #_sourceLocation
    ) async throws -> TransferError? {
        var failure: TransferError?
        try await withListener(answer: answer, endless: endless) { listener in
            try await withOrigin(configure) { origin, client in
                failure = await client.failure(listener.url + "/", location)
                #expect(listener.sent < most, sourceLocation: location)
                let good = try await client.get(origin.coverURL(1))
                #expect(good.body == CoverImage.jpeg(number: 1), sourceLocation: location)
            }
        }
        return failure
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", "X-More: and more\r\n"),
        ("", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"),
        (chunked + "1\r\nx\r\n0\r\n", "X-Trailer: and more\r\n"),
    ])
    func `header fields, interim responses and trailers without end are stopped at a limit`(
        answer: String, endless: String
    ) async throws {
        let error = try await failure(answer, endless: endless)
        #expect(error?.kind == .tooLarge && error?.detail.contains("307200 bytes") == true, "\(error as Any)")
    }

    @Test func `a field that is folded over thousands of lines ends the transfer`() async throws {
        let folded = "ETag: \"\r\n" + String(repeating: " x\r\n", count: 50_000)
        let error = try await failure("HTTP/1.1 200 OK\r\n\(folded)Content-Length: 0\r\n\r\n")
        #expect(error?.kind == .tooLarge && error?.detail.contains("5000 lines") == true, "\(error as Any)")
    }

    @Test func `RFC 9112 section 5.2: a folded field is one line, and one that is not kept folds nothing`() {
        var heads = ResponseHeads(limit: 1_000)
        let lines = ["HTTP/1.1 200 OK", "ETag: \"a", "\tb", "  c\"", "X-Other: d", " e", "Age: 1", ""]
        for line in lines { #expect(Array("\(line)\r\n".utf8).withUnsafeBytes { heads.receive($0) }) }
        #expect(heads.isComplete && heads.fields == [.eTag: "\"a b c\"", .age: "1"])
    }

    /// libcurl before 8.1 calls it a bad argument, and wrote to what it had freed if the handle had been used before.
    @Test func `a response whose first field line begins with a blank harms no other transfer`() async throws {
        try await withScriptedServer { request in
            let fold = request.target == "/good" ? [] : Array(" folded: first\r\n".utf8)
            let body = Array(request.target.utf8)
            return Array("HTTP/1.1 200 OK\r\n".utf8) + fold
                + Array("ETag: \"a\"\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        } _: { server in
            try await withClient { client in
                for _ in 0..<20 {
                    let response = try await client.get(server.url + "/good")
                    #expect(response.body.elementsEqual("/good".utf8))
                    _ = try? await client.get(server.url + "/bad")
                }
            }
        }
    }

    @Test func `of a response, at most 16 KiB of fields are kept, and a field is kept whole or not at all`() {
        var fields = HTTPFields()
        for name in ResponseFields.names {
            fields.append(HTTPField(name: name, value: String(repeating: "x", count: 1_024)))
        }
        let kept = ResponseFields.cached(fields)
        #expect(
            kept == fields && kept.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 3 } < 16 << 10)
        for index in fields.indices { fields[index].value += "x" }
        // A part of these might permit what the whole forbids.
        #expect(ResponseFields.cached(fields) == [.cacheControl: "no-store", .vary: "*"])
        var lines: HTTPFields = [.eTag: "\"a\""]
        for _ in 0..<300 { lines.append(HTTPField(name: .lastModified, value: "Thu")) }
        #expect(ResponseFields.cached(lines) == [.eTag: "\"a\""])
    }

    @Test func `ten thousand cookies are too many fields, and none is ever sent back`() async throws {
        let cookies = (0..<10_000).map { "Set-Cookie: name\($0)=value\($0); Path=/; HttpOnly\r\n" }.joined()
        let error = try await failure("HTTP/1.1 200 OK\r\n" + cookies + "Content-Length: 0\r\n\r\n")
        #expect(error?.kind == .tooLarge)
        try await withListener(answer: "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n") { listener in
            try await withClient { client in
                var requests = listener.requests.makeAsyncIterator()
                for _ in 0..<2 {
                    _ = try await client.get(listener.url)
                    let request = await requests.next()
                    #expect(request?.lowercased().contains("cookie") == false)
                }
            }
        }
    }

    @Test func `the name of a coding is not repeated at length`() async throws {
        let coding = String(repeating: "q", count: 90_000)
        let error = try await failure("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 1\r\n\r\nx")
        #expect(error.map { $0.detail.utf8.count < 500 } == true)
    }

    @Test func `a redirect to an address of ten megabytes is not followed, nor kept`() async throws {
        let place = "http://127.0.0.1/" + String(repeating: "a", count: 10 << 20)
        let error = try await failure("HTTP/1.1 301 Moved\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")
        #expect(error?.kind == .tooLarge, "\(error?.detail.prefix(200) as Any)")
        #expect(error.map { $0.detail.utf8.count < 1_000 } == true)
    }

    @Test(arguments: [
        "Content-Length: 99999999999999999999", "Content-Length: 9223372036854775807", "Content-Length: -5",
        "Content-Length: five", "Content-Length: 4\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 5\r\nContent-Length: 4",
    ])
    func `a length that is none, or that cannot be, is a failure before anything is taken`(field: String) async throws {
        let error = try await failure("HTTP/1.1 200 OK\r\n\(field)\r\n\r\nbody")
        #expect(error.map { [.tooLarge, .broken, .truncated].contains($0.kind) } == true, "\(error as Any)")
    }

    @Test func `the same length said twice is one length`() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody"
        try await withListener(answer: answer) { listener in
            try await withClient { client in
                let response = try await client.get(listener.url)
                #expect(response.body == Array("body".utf8))
            }
        }
    }

    @Test func `a body without end is stopped at the limit, and memory is taken as it comes, not as it is announced`()
        async throws
    {
        let limit: (inout HTTPClientConfiguration) -> Void = { $0.maximumBodySize = 1 << 20 }
        let filler = String(repeating: "x", count: 65_536)
        let error = try await failure("HTTP/1.1 200 OK\r\n\r\n", endless: filler, limit)
        #expect(error?.kind == .tooLarge)
        let chunk = "10000\r\n\(filler)\r\n"
        let chunks = try await failure(Self.chunked, endless: chunk, limit)
        #expect(chunks?.kind == .tooLarge)
    }

    @Test func `a chunk's extension without end is no progress, and times out as slow`() async throws {
        let error = try await failure(
            Self.chunked + "5;", endless: String(repeating: "x", count: 65_536),
            {
                $0.lowSpeedTime = 1
                $0.timeout = .seconds(4)
            }, most: .max)
        #expect(error.map { [.timeout, .broken, .truncated].contains($0.kind) } == true, "\(error as Any)")
    }

    @Test func `a body that drips has timed out once it has been too slow for long enough`() async throws {
        try await withOrigin {
            $0.lowSpeedLimit = 10_000
            $0.lowSpeedTime = 1
        } _: { origin, client in
            let error = await client.failure(origin.coverURL(1) + "?size=100000&rate=200")
            #expect(error?.kind == .timeout, "\(error as Any)")
            let good = try await client.get(origin.coverURL(2))
            #expect(good.body == CoverImage.jpeg(number: 2))
        }
    }
}
