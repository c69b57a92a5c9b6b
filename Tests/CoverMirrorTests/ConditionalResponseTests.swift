import HTTPTypes
import Testing

@testable import CoverLibrary
@testable import HTTPCaching

private let whole = Array("0123456789".utf8)

private func response(_ fields: HTTPFields = [:], status: Int = 200) -> StoredResponse {
    StoredResponse(status: status, fields: fields, requestTime: 1_704_067_200_000, responseTime: 1_704_067_200_000)
}

private func answer(_ stored: StoredResponse, _ fields: HTTPFields, _ method: HTTPRequest.Method = .get) -> MirrorAnswer
{
    Presentation.answer(stored, body: whole, to: MirrorRequest(method: method, target: "/", fields: fields))
}

@Suite("RFC 9110 §13, §14: what a client has, and what it wants of the whole") struct PresentationTests {
    @Test(
        "§14.1.2, §14.2: a range of bytes is cut out; what is no range is passed over",
        arguments: [
            ("bytes=0-1", 206, "01"), ("bytes=8-", 206, "89"), ("bytes=-1", 206, "9"), ("bytes=-99", 206, "0123456789"),
            ("bytes=5-99", 206, "56789"), ("BYTES=2-2", 206, "2"), ("bytes=10-", 416, nil), ("bytes=-0", 416, nil),
            ("bytes=99999999999999999999-", 416, nil), ("bytes=3-2", 200, nil), ("bytes=a-b", 200, nil),
            ("bytes=-", 200, nil), ("bytes=1-2,4-5", 200, nil), ("lines=1-2", 200, nil), ("bytes", 200, nil),
        ] as [(String, Int, String?)])
    func ranges(text: String, status: Int, body: String?) {
        let answer = answer(response(), [.range: text])
        #expect(answer.head.status.code == status)
        if let body { #expect(String(decoding: answer.body, as: UTF8.self) == body) }
        #expect(answer.head.headerFields[.contentLength] == String(answer.body.count))
        if status == 416 { #expect(answer.head.headerFields[.contentRange] == "bytes */10") }
    }

    @Test("§14.2: a range of anything but a GET's 200 is passed over")
    func rangesOfOthers() {
        #expect(
            Presentation.answer(
                response(status: 404), body: whole,
                to: MirrorRequest(method: .get, target: "/", fields: [.range: "bytes=0-1"])
            ).head.status.code == 404)
        #expect(answer(response(), [.range: "bytes=0-1"], .head).head.status.code == 200)
    }

    @Test(
        "§13.1.2: If-None-Match compares weakly, tag by tag",
        arguments: [
            (#""a""#, #""a""#, true), (#"W/"a""#, #""a""#, true), (#""a""#, #"W/"a""#, true),
            (#""b", "a""#, #""a""#, true),
            (#""b""#, #""a""#, false), ("*", #""a""#, true), (#""a,b""#, #""a,b""#, true), (#""a,b""#, #""a""#, false),
            ("a", #""a""#, false), (#""*""#, #""a""#, false),
        ])
    func tags(asked: String, tag: String, isSame: Bool) {
        let answer = answer(response([.eTag: tag, .contentType: "image/png"]), [.ifNoneMatch: asked])
        #expect(answer.head.status.code == (isSame ? 304 : 200))
        if isSame { #expect(answer.body.isEmpty && answer.head.headerFields[.contentType] == nil) }
    }

    @Test("§13.2.2: If-None-Match comes before If-Modified-Since, and §13.1.3: both before a range")
    func precedence() {
        let stored = response([.eTag: "\"a\"", .lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"])
        let later = "Tue, 02 Jan 2024 00:00:00 GMT"
        #expect(answer(stored, [.ifNoneMatch: "\"b\"", .ifModifiedSince: later]).head.status.code == 200)
        #expect(answer(stored, [.ifModifiedSince: later, .range: "bytes=0-1"]).head.status.code == 304)
        #expect(answer(stored, [.ifModifiedSince: "Sun, 31 Dec 2023 00:00:00 GMT"]).head.status.code == 200)
        #expect(answer(stored, [.ifModifiedSince: "yesterday"]).head.status.code == 200)
    }
}

@Suite struct MessageTests {
    @Test("RFC 9110 §7.6.1: fields of the connection, and those that it lists, go no further")
    func endToEnd() {
        let fields: HTTPFields = [
            .connection: "close, X-Hop", HTTPField.Name("X-Hop")!: "1", HTTPField.Name("Keep-Alive")!: "5",
            .transferEncoding: "chunked", .upgrade: "h2c", .te: "trailers", .proxyAuthenticate: "Basic",
            HTTPField.Name("X-End")!: "2", .eTag: "\"a\"",
        ]
        #expect(fields.endToEnd == [HTTPField.Name("X-End")!: "2", .eTag: "\"a\""])
    }

    @Test("RFC 9111 §5.4: Pragma: no-cache counts where there is no Cache-Control")
    func pragma() {
        func directives(_ fields: HTTPFields) -> CacheDirectives {
            MirrorRequest(method: .get, target: "/", fields: fields).directives
        }
        #expect(directives([HTTPField.Name("Pragma")!: "no-cache"]).noCache)
        #expect(!directives([HTTPField.Name("Pragma")!: "no-cache", .cacheControl: "max-stale"]).noCache)
        #expect(!directives([HTTPField.Name("Pragma")!: "foo"]).noCache)
    }

    @Test("RFC 9211 §2: Cache-Status is a structured field")
    func cacheStatus() {
        #expect(CacheStatus.hit.text == "sleeve; hit")
        let all = CacheStatus(
            forwarding: .stale, forwardStatus: 304, isStored: true, isCollapsed: true, timeToLive: -5, detail: "x")
        #expect(all.text == "sleeve; fwd=stale; fwd-status=304; ttl=-5; stored; collapsed; detail=x")
    }

    @Test(
        "RFC 3986 §5.2: a response's Location is resolved against its URL, and only the origin's own is invalidated",
        arguments: [
            ("/b", "http://h/b"), ("b", "http://h/a/b"), ("?q", "http://h/a/x?q"), ("../c", "http://h/c"),
            ("http://h/d", "http://h/d"), ("//h/e", "http://h/e"), ("http://other/f", nil), ("//other/g", nil),
        ] as [(String, String?)])
    func locations(reference: String, expected: String?) throws {
        let site = try MirrorSite("http://h/")
        let url = try #require(site.url("/a/x?y"))
        #expect(site.named(by: [.location: reference], of: url) == (expected.map { [$0] } ?? []))
    }

    @Test("an origin is an http or https URL without a query; a password in it is not repeated")
    func sites() throws {
        #expect(try MirrorSite("HTTPS://Example.org:443/covers/").base == "https://example.org/covers")
        for text in ["example.org", "ftp://example.org", "http://example.org/?a", ""] {
            #expect(throws: LibraryError.self) { try MirrorSite(text) }
        }
        #expect { try MirrorSite("http://me:secret@example.org") } throws: { !"\($0)".contains("secret") }
    }
}
