import HTTPTypes
import Testing

@testable import CoverMirror
@testable import HTTPCaching

private let complete = Array("0123456789".utf8)

private func response(_ fields: HTTPFields = [:], status: Int = 200) -> StoredResponse {
    StoredResponse(status: status, fields: fields, requestTime: 1_704_067_200_000, responseTime: 1_704_067_200_000)
}

private func make(_ stored: StoredResponse, _ fields: HTTPFields, _ method: HTTPRequest.Method = .get) -> MirrorResponse
{
    ConditionalResponse.make(
        stored, body: complete, for: MirrorRequest(method: method, target: "/", fields: fields))
}

/// RFC 9110 section 13, section 14: conditions and ranges.
@Suite struct ConditionalResponseTests {
    @Test(
        arguments: [
            ("bytes=0-1", 206, "01"), ("bytes=8-", 206, "89"), ("bytes=-1", 206, "9"), ("bytes=-99", 206, "0123456789"),
            ("bytes=5-99", 206, "56789"), ("BYTES=2-2", 206, "2"), ("bytes=10-", 416, nil), ("bytes=-0", 416, nil),
            ("bytes=99999999999999999999-", 416, nil), ("bytes=3-2", 200, nil), ("bytes=a-b", 200, nil),
            ("bytes=-", 200, nil), ("bytes=1-2,4-5", 200, nil), ("lines=1-2", 200, nil), ("bytes", 200, nil),
        ] as [(String, Int, String?)])
    func `§14.1.2, §14.2: a range of bytes is served; an invalid one is ignored`(
        text: String, status: Int, body: String?
    ) {
        let made = make(response(), [.range: text])
        #expect(made.head.status.code == status)
        if let body { #expect(String(decoding: made.body, as: UTF8.self) == body) }
        #expect(made.head.headerFields[.contentLength] == String(made.body.count))
        if status == 416 { #expect(made.head.headerFields[.contentRange] == "bytes */10") }
    }

    @Test func `§14.2: a range applies to the 200 of a GET only`() {
        #expect(make(response(status: 404), [.range: "bytes=0-1"]).head.status.code == 404)
        #expect(make(response(), [.range: "bytes=0-1"], .head).head.status.code == 200)
    }

    @Test(arguments: [
        (#""a""#, #""a""#, true), (#"W/"a""#, #""a""#, true), (#""a""#, #"W/"a""#, true),
        (#""b", "a""#, #""a""#, true),
        (#""b""#, #""a""#, false), ("*", #""a""#, true), (#""a,b""#, #""a,b""#, true), (#""a,b""#, #""a""#, false),
        ("a", #""a""#, false), (#""*""#, #""a""#, false),
    ])
    func `§13.1.2: If-None-Match compares weakly, tag by tag`(condition: String, tag: String, isSame: Bool) {
        let made = make(response([.eTag: tag, .contentType: "image/png"]), [.ifNoneMatch: condition])
        #expect(made.head.status.code == (isSame ? 304 : 200))
        if isSame { #expect(made.body.isEmpty && made.head.headerFields[.contentType] == nil) }
    }

    @Test func `§13.2.2: If-None-Match precedes If-Modified-Since, and both precede a range`() {
        let stored = response([.eTag: "\"a\"", .lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"])
        let later = "Tue, 02 Jan 2024 00:00:00 GMT"
        #expect(make(stored, [.ifNoneMatch: "\"b\"", .ifModifiedSince: later]).head.status.code == 200)
        #expect(make(stored, [.ifModifiedSince: later, .range: "bytes=0-1"]).head.status.code == 304)
        #expect(make(stored, [.ifModifiedSince: "Sun, 31 Dec 2023 00:00:00 GMT"]).head.status.code == 200)
        #expect(make(stored, [.ifModifiedSince: "yesterday"]).head.status.code == 200)
    }
}
