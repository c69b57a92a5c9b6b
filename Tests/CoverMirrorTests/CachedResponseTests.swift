import CoverCache
import HTTPTypes
import Testing

@testable import CoverMirror
@testable import HTTPCaching

/// 2024-01-01 00:00:00 GMT, in milliseconds since 1970.
private let start: Int64 = 1_704_067_200_000
private let url = "https://example.org/a"

@Suite struct CachedResponseTests {
    @Test func `an entry preserves a response: status, fields in order, times, and the request fields that Vary names`()
        throws
    {
        let fields: HTTPFields = [
            .contentType: "text/html", .setCookie: "a=1", .setCookie: "b=2", .vary: "Accept, Accept-Language",
            .date: HTTPDate.text(start / 1_000),
        ]
        let response = StoredResponse(status: 404, fields: fields, requestTime: start - 70, responseTime: start)
        let requestFields: HTTPFields = [.accept: "text/html", .acceptLanguage: "de", .userAgent: "x"]
        let key = EntryKey.response(slot: 1, url: url)
        let again = CachedResponse(
            metadata: CachedResponse.metadata(
                of: response, requestFields: requestFields, key: key.text, mediaType: "text/html"))
        #expect(again.response == response)
        #expect(again.requestFields == [.accept: "text/html", .acceptLanguage: "de"])
        #expect(!again.entry.isCover && again.key == key.text && CachedResponse.keys(of: url).contains(key))
    }

    @Test func `a cover that the library downloaded answers requests with the library's own fields`() throws {
        let metadata = EntryMetadata(
            key: url, mediaType: "image/jpeg", storedAt: start,
            fields: "vary: Accept\ncache-control: max-age=60\ntried at: 1\n")
        let cover = CachedResponse(metadata: metadata, libraryFields: [.accept: "image/*"])
        #expect(cover.entry.isCover && cover.response.fields[.contentType] == "image/jpeg")
        #expect(cover.matches([.accept: "image/*"]) && !cover.matches([.accept: "text/html"]))
    }

    @Test func `what the library has recorded of a cover stays when the origin confirms it`() {
        let kept = "request URL: https://example.org/%61\nimage incomplete: yes\n"
        let old = EntryMetadata(
            key: url, mediaType: "image/jpeg", storedAt: start, fields: kept + "invalid since: 1\ntried at: 1\n")
        let response = StoredResponse(
            status: 200, fields: [.cacheControl: "max-age=60"], requestTime: start, responseTime: start)
        let updated = CachedResponse(metadata: old).metadata(updatedTo: response)
        #expect(updated.fields == "cache-control: max-age=60\n" + kept)
    }
}
