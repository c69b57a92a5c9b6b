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

    @Test func `a 304 has the entity tag and no body`() async throws {
        try await withOrigin { origin in
            let whole = try await origin.fetch("/covers/1.jpg")
            let tag = try #require(whole.fields["etag"])
            let same = try await origin.fetch("/covers/1.jpg", ["If-None-Match": tag])
            #expect(same.status == 304 && same.body.isEmpty && same.fields["etag"] == tag)
            let date = try #require(whole.fields["last-modified"])
            #expect(try await origin.fetch("/covers/1.jpg", ["If-Modified-Since": date]).status == 304)
        }
    }
}
