import HTTPCaching
import HTTPTypes
import Testing
import Wire

@testable import OriginServer

@Suite
struct ConditionTests {
    private let cover = Representation(of: .jpeg(1), ResponseOptions(OriginOptions(), number: 1))

    @Test func `an entity tag takes precedence over the date`() {
        let (tag, modified) = (cover.entityTag, cover.lastModified)
        let date = HTTPDate.text(modified)
        #expect(cover.isNotModified([.ifNoneMatch: "\"a\", W/\(tag)"]))
        #expect(!cover.isNotModified([.ifNoneMatch: "\"other\"", .ifModifiedSince: date]))
        #expect(cover.isNotModified([.ifModifiedSince: date]))
        #expect(!cover.isNotModified([.ifModifiedSince: HTTPDate.text(modified - 1)]))
        #expect(!cover.isNotModified([.ifModifiedSince: "yesterday"]) && !cover.isNotModified([:]))
    }

    @Test func `a 304 has the entity tag and no body`() async throws {
        try await withOrigin { origin in
            let whole = try await origin.fetch("/covers/1.jpg")
            let tag = try #require(whole.fields["etag"])
            let same = try await origin.fetch("/covers/1.jpg", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty && same.fields["etag"] == tag)
            // RFC 9110 section 8.6: that of the 200, or none.
            #expect(same.fields["content-length"] == whole.fields["content-length"])
        }
    }
}
