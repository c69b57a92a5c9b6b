import HTTPTypes
import Testing
import Wire

@testable import OriginServer

@Suite("Conditions and ranges")
struct ConditionTests {
    private let cover = Representation(of: .jpeg(1), ResponseOptions(OriginOptions(), number: 1))

    @Test("a matching entity tag gives 304", arguments: ["TAG", "W/TAG", "\"a\" , TAG", "TAG, \"a\"", "*"])
    func matches(tags: String) {
        #expect(cover.isNotModified([.ifNoneMatch: tags.replacing("TAG", with: cover.validators.entityTag)]))
    }

    @Test("another entity tag takes precedence over the date")
    func differs() {
        let modified = cover.validators.lastModified
        let date = HTTPDate.text(modified)
        #expect(!cover.isNotModified([.ifNoneMatch: "\"other\"", .ifModifiedSince: date]))
        #expect(cover.isNotModified([.ifModifiedSince: date]))
        #expect(!cover.isNotModified([.ifModifiedSince: HTTPDate.text(modified - 1)]))
        #expect(!cover.isNotModified([.ifModifiedSince: "yesterday"]))
        #expect(!cover.isNotModified([:]))
    }

    @Test(
        "a range is limited to the representation",
        arguments: [
            ("bytes=0-9", ByteRange.part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-30", .part(70..<100)),
            ("bytes=50-5000", .part(50..<100)), ("bytes=-500", .part(0..<100)), ("bytes=100-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=9-1", .whole), ("bytes=0-1,5-6", .whole), ("lines=1-2", .whole),
            ("bytes=--5", .whole),
        ])
    func range(field: String, expected: ByteRange) {
        #expect(ByteRange(field, length: 100) == expected)
    }

    @Test("If-Range allows a range only for the same bytes")
    func ifRange() {
        let validators = cover.validators
        #expect(cover.range([.range: "bytes=0-9", .ifRange: validators.entityTag]) == .part(0..<10))
        #expect(cover.range([.range: "bytes=0-9", .ifRange: "\"old\""]) == .whole)
        #expect(cover.range([.range: "bytes=0-9", .ifRange: HTTPDate.text(validators.lastModified)]) == .part(0..<10))
        #expect(cover.range([.range: "bytes=0-9", .ifRange: HTTPDate.text(validators.lastModified + 1)]) == .whole)
        #expect(cover.range([:]) == .whole)
    }

    @Test("responses with 304, 206 and 416 have the required fields")
    func wire() async throws {
        try await withOrigin { origin in
            let whole = try await origin.fetch("/covers/1.jpg")
            let tag = try #require(whole.fields["etag"])
            let same = try await origin.fetch("/covers/1.jpg", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty && same.fields["etag"] == tag)
            let date = try #require(whole.fields["last-modified"])
            #expect(try await origin.fetch("/covers/1.jpg", ["If-Modified-Since": date]).status == 304)
            let part = try await origin.fetch("/covers/1.jpg", ["Range": "bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(whole.body[10..<20]))
            #expect(part.fields["content-range"] == "bytes 10-19/\(whole.body.count)")
            let past = try await origin.fetch("/covers/1.jpg", ["Range": "bytes=9999999-"])
            #expect(past.status == 416 && past.fields["content-range"] == "bytes */\(whole.body.count)")
        }
    }
}

@Suite("HTTP dates")
struct HTTPDateTests {
    @Test("dates have RFC 9110's form, leap days included")
    func text() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.text(4_107_542_399) == "Sun, 28 Feb 2100 23:59:59 GMT")
    }

    @Test("a formatted date is parsed to the same time")
    func roundTrip() {
        for seconds in stride(from: Int64(0), to: 5_000_000_000, by: 12_345_677) {
            #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
        }
        #expect(HTTPDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT") == nil)
    }
}
