import HTTPCaching
import HTTPTypes
import Testing
import Wire

@testable import OriginServer

@Suite
struct ConditionTests {
    private let cover = Representation(of: .jpeg(1), ResponseOptions(OriginOptions(), number: 1))

    @Test(arguments: ["TAG", "W/TAG", "\"a\" , TAG", "TAG, \"a\"", "*"])
    func `a matching entity tag gives 304`(tags: String) {
        #expect(cover.isNotModified([.ifNoneMatch: tags.replacing("TAG", with: cover.validators.entityTag)]))
    }

    @Test func `another entity tag takes precedence over the date`() {
        let modified = cover.validators.lastModified
        let date = HTTPDate.text(modified)
        #expect(!cover.isNotModified([.ifNoneMatch: "\"other\"", .ifModifiedSince: date]))
        #expect(cover.isNotModified([.ifModifiedSince: date]))
        #expect(!cover.isNotModified([.ifModifiedSince: HTTPDate.text(modified - 1)]))
        #expect(!cover.isNotModified([.ifModifiedSince: "yesterday"]))
        #expect(!cover.isNotModified([:]))
    }

    @Test func `If-Range allows a range only for the same bytes`() {
        let validators = cover.validators
        #expect(cover.range([.range: "bytes=0-9", .ifRange: validators.entityTag]) == .part(0..<10))
        #expect(cover.range([.range: "bytes=0-9", .ifRange: "\"old\""]) == .whole)
        #expect(cover.range([.range: "bytes=0-9", .ifRange: HTTPDate.text(validators.lastModified)]) == .part(0..<10))
        #expect(cover.range([.range: "bytes=0-9", .ifRange: HTTPDate.text(validators.lastModified + 1)]) == .whole)
        #expect(cover.range([:]) == .whole)
    }

    @Test func `responses with 304, 206 and 416 have the required fields`() async throws {
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
