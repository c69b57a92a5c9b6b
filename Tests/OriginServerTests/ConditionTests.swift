import HTTPTypes
import Testing
import Wire

@testable import OriginServer

@Suite("Conditions and ranges")
struct ConditionTests {
    private func select(_ fields: HTTPFields) -> Selection {
        Selection(fields, tag: "\"c1-100\"", modified: 784_111_777, length: 100)
    }

    @Test(
        "a 304 is answered when the ETag matches", arguments: ["\"c1-100\"", "W/\"c1-100\"", "\"a\" , \"c1-100\"", "*"])
    func matches(tags: String) {
        #expect(select([.ifNoneMatch: tags]) == .notModified)
    }

    @Test("another ETag decides against the date")
    func differs() {
        let date = HTTPDate.text(784_111_777)
        #expect(select([.ifNoneMatch: "\"other\"", .ifModifiedSince: date]) == .whole)
        #expect(select([.ifModifiedSince: date]) == .notModified)
        #expect(select([.ifModifiedSince: HTTPDate.text(784_111_776)]) == .whole)
        #expect(select([.ifModifiedSince: "yesterday"]) == .whole)
    }

    @Test(
        "a range is cut to what there is",
        arguments: [
            ("bytes=0-9", Selection.part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-30", .part(70..<100)),
            ("bytes=50-5000", .part(50..<100)), ("bytes=-500", .part(0..<100)), ("bytes=100-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=9-1", .whole), ("bytes=0-1,5-6", .whole), ("lines=1-2", .whole),
            ("bytes=--5", .whole),
        ])
    func range(field: String, expected: Selection) {
        #expect(select([.range: field]) == expected)
    }

    @Test("If-Range lets a range through only for the same bytes")
    func ifRange() {
        #expect(select([.range: "bytes=0-9", .ifRange: "\"c1-100\""]) == .part(0..<10))
        #expect(select([.range: "bytes=0-9", .ifRange: "\"old\""]) == .whole)
        #expect(select([.range: "bytes=0-9", .ifRange: HTTPDate.text(784_111_777)]) == .part(0..<10))
    }

    @Test("on the wire, 304, 206 and 416 say what they must")
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
    @Test("are written as RFC 9110 does, leap days included")
    func text() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.text(4_107_542_399) == "Sun, 28 Feb 2100 23:59:59 GMT")
    }

    @Test("come back as they were written")
    func roundTrip() {
        for seconds in stride(from: 0, to: 5_000_000_000, by: 12_345_677) {
            #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
        }
        #expect(HTTPDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT") == nil)
    }
}
