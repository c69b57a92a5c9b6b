import CoverCache
import HTTPTypes
import Testing

@testable import CoverMirror
@testable import HTTPCaching

/// 2024-01-01 00:00:00 GMT, in milliseconds since 1970.
private let start: Int64 = 1_704_067_200_000
private let url = "https://example.org/a"
private let language = HTTPField.Name.acceptLanguage

/// A response that arrived at `start`, or `seconds` later, as the cache holds it.
private func cached(
    _ cacheControl: String, _ more: HTTPFields = [:], status: Int = 200, requestFields: HTTPFields = [:],
    after seconds: Int64 = 0, slot: Int = 1
) -> CachedResponse {
    var fields: HTTPFields = [.cacheControl: cacheControl, .date: HTTPDate.text(start / 1_000 + seconds)]
    for field in more { fields.append(field) }
    let time = start + seconds * 1_000
    let response = StoredResponse(status: status, fields: fields, requestTime: time, responseTime: time)
    return CachedResponse(
        metadata: CachedResponse.metadata(
            of: response, requestFields: requestFields, key: EntryKey.response(slot: slot, url: url).text,
            mediaType: "text/plain"))
}

private func decide(
    _ responses: [CachedResponse], _ fields: HTTPFields = [:], after seconds: Int64, isOffline: Bool = false
) -> MirrorDecision {
    MirrorDecision(
        responses, for: MirrorRequest(method: .get, target: "/a", fields: fields), at: start + seconds * 1_000,
        isOffline: isOffline)
}

@Suite struct MirrorDecisionTests {
    @Test func `a fresh response is served, a stale one is validated, a missing one is fetched (RFC 9111 §4)`() {
        let one = cached("max-age=60")
        #expect(decide([], after: 0) == .fetch(.uriMiss))
        #expect(decide([one], after: 59) == .serve(one))
        #expect(decide([one], after: 60) == .validate(one, ifError: true, .stale))
        #expect(decide([one], [.cacheControl: "no-cache"], after: 1) == .validate(one, ifError: true, .request))
        #expect(decide([one], [.cacheControl: "max-stale"], after: 99) == .serve(one))
    }

    @Test func `offline and with only-if-cached nothing is fetched (RFC 9111 §5.2.1.7)`() throws {
        let (one, strict) = (cached("max-age=60"), cached("max-age=60, must-revalidate"))
        #expect(decide([], after: 0, isOffline: true) == .refuse(nil))
        #expect(decide([one], after: 60, isOffline: true) == .serveStale(one))
        #expect(decide([strict], after: 60, isOffline: true) == .refuse(strict))
        #expect(decide([one], [.cacheControl: "only-if-cached"], after: 60) == .refuse(one))
        #expect(decide([one], [.cacheControl: "only-if-cached"], after: 59) == .serve(one))
    }

    @Test
    func `within stale-while-revalidate the stale response is served and validated in the background (RFC 5861 §3)`()
        throws
    {
        let one = cached("max-age=60, stale-while-revalidate=10")
        #expect(decide([one], after: 69) == .serveAndRevalidate(one))
        #expect(decide([one], after: 69, isOffline: true) == .serveStale(one))
        #expect(decide([one], after: 71) == .validate(one, ifError: true, .stale))
    }

    @Test(
        arguments: [
            ("max-age=60", [:], true), ("max-age=0", [:], true), ("no-cache", [:], false),
            ("max-age=0, must-revalidate", [:], false), ("max-age=60, must-revalidate", [:], true),
            ("no-cache", [.eTag: "\"a\""], true),
            ("max-age=0, must-revalidate", [.lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"], true),
            ("max-age=60", [.vary: "*"], false), ("max-age=60", [.vary: "Accept"], true),
        ] as [(String, HTTPFields, Bool)])
    func `a response that is stale on arrival is stored if it can be validated or served stale (RFC 9111 §4.2.4)`(
        cacheControl: String, more: HTTPFields, isStored: Bool
    ) {
        #expect(cached(cacheControl, more).response.isWorthStoring == isStored)
    }

    @Test func `an error is stored for its explicit lifetime only`() {
        #expect(cached("max-age=60", status: 404).response.isWorthStoring)
        #expect(!cached("max-age=0", [.eTag: "\"a\""], status: 404).response.isWorthStoring)
    }

    @Test func `a stale error is never served`() throws {
        let one = cached("max-age=60", status: 404)
        #expect(decide([one], after: 59) == .serve(one))
        #expect(decide([one], after: 60) == .validate(one, ifError: false, .stale))
        #expect(decide([one], after: 60, isOffline: true) == .refuse(one))
    }

    @Test func `§4.1: the most recent of the matching variants is served; without one it is a vary-miss`() throws {
        let german = cached("max-age=60", [.vary: "Accept-Language"], requestFields: [language: "de"])
        let newer = cached(
            "max-age=60", [.vary: "Accept-Language"], requestFields: [language: "de"], after: 5, slot: 2)
        let french = cached(
            "max-age=60", [.vary: "Accept-Language"], requestFields: [language: "fr"], after: 9, slot: 3)
        let all = [german, newer, french]
        #expect(decide(all, [language: "de"], after: 10) == .serve(newer))
        #expect(decide(all, [language: "DE"], after: 10) == .serve(newer), "language tags ignore case")
        #expect(decide(all, [language: "fr"], after: 10) == .serve(french))
        #expect(decide(all, after: 10) == .fetch(.varyMiss))
    }

    @Test func `§4.4: an invalid response is validated whatever its age, and never served stale`() throws {
        let one = cached("max-age=60")
        let invalid = CachedResponse(metadata: one.metadata(invalidAt: start + 1_000))
        #expect(invalid.isInvalid && invalid.entry.metadata.freshUntil == start + 1_000)
        #expect(decide([invalid], after: 2) == .validate(invalid, ifError: false, .stale))
        #expect(decide([invalid], after: 2, isOffline: true) == .refuse(invalid))
        #expect(
            !CachedResponse(metadata: invalid.metadata(updatedTo: invalid.response)).isInvalid, "the 304 confirms it")
    }
}
