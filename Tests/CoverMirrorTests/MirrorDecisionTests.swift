import HTTPTypes
import Testing

@testable import CoverCache
@testable import CoverLibrary
@testable import HTTPCaching

/// 2024-01-01 00:00:00 GMT, in milliseconds.
private let dawn: Int64 = 1_704_067_200_000
private let url = "https://example.org/a"
private let language = HTTPField.Name.acceptLanguage

/// A response that came at dawn, as the cache holds it; `age` in seconds.
private func held(
    _ cacheControl: String, _ more: HTTPFields = [:], status: Int = 200, asked: HTTPFields = [:],
    after seconds: Int64 = 0,
    place: Int = 1
) -> HeldResponse {
    var fields: HTTPFields = [.cacheControl: cacheControl, .date: HTTPDate.text(dawn / 1_000 + seconds)]
    for field in more { fields.append(field) }
    let time = dawn + seconds * 1_000
    let response = StoredResponse(status: status, fields: fields, requestTime: time, responseTime: time)
    return reread(
        HeldResponse.metadata(
            of: response, asked: asked, key: HeldResponse.place(place, of: url), mediaType: "text/plain"))
}

private func reread(_ metadata: EntryMetadata, own: HTTPFields = [:]) -> HeldResponse {
    HeldResponse(
        CachedEntry(
            metadata: metadata, digest: Digest(of: [1].withUnsafeBytes { $0 }), bytes: 1,
            validatedAt: metadata.storedAt,
            isPinned: false, lastUsed: 0, row: EntryRow(id: 1, blob: 1)), own: own)
}

private func decide(
    _ held: [HeldResponse], _ fields: HTTPFields = [:], after seconds: Int64, isOffline: Bool = false
) -> MirrorDecision {
    MirrorDecision(
        held, for: MirrorRequest(method: .get, target: "/a", fields: fields), at: dawn + seconds * 1_000,
        isOffline: isOffline)
}

@Suite struct MirrorDecisionTests {
    @Test("what is fresh is served, what is stale is validated, and what is not there is fetched (RFC 9111 §4)")
    func basics() {
        let one = held("max-age=60")
        #expect(decide([], after: 0) == .fetch(.uriMiss))
        #expect(decide([one], after: 59) == .serve(one))
        #expect(decide([one], after: 60) == .validate(one, ifError: true, .stale))
        #expect(decide([one], [.cacheControl: "no-cache"], after: 1) == .validate(one, ifError: true, .request))
        #expect(decide([one], [.cacheControl: "max-stale"], after: 99) == .serve(one))
    }

    @Test("offline, or when only the cache is asked, nothing is fetched (RFC 9111 §5.2.1.7)")
    func cacheAlone() throws {
        let (one, strict) = (held("max-age=60"), held("max-age=60, must-revalidate"))
        #expect(decide([], after: 0, isOffline: true) == .refuse(nil))
        #expect(decide([one], after: 60, isOffline: true) == .serveStale(one))
        #expect(decide([strict], after: 60, isOffline: true) == .refuse(strict))
        #expect(decide([one], [.cacheControl: "only-if-cached"], after: 60) == .refuse(one))
        #expect(decide([one], [.cacheControl: "only-if-cached"], after: 59) == .serve(one))
    }

    @Test("stale-while-revalidate gives the stale one and asks beside, once (RFC 5861 §3)")
    func beside() throws {
        let one = held("max-age=60, stale-while-revalidate=10")
        #expect(decide([one], after: 69) == .serveAndRevalidate(one))
        #expect(decide([one], after: 69, isOffline: true) == .serveStale(one))
        #expect(decide([one], after: 71) == .validate(one, ifError: true, .stale))
    }

    @Test(
        "what is stale when it comes is kept where it may ever be of use: validated, or given unasked (RFC 9111 §4.2.4)",
        arguments: [
            ("max-age=60", [:], true), ("max-age=0", [:], true), ("no-cache", [:], false),
            ("max-age=0, must-revalidate", [:], false), ("max-age=60, must-revalidate", [:], true),
            ("no-cache", [.eTag: "\"a\""], true),
            ("max-age=0, must-revalidate", [.lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"], true),
            ("max-age=60", [.vary: "*"], false), ("max-age=60", [.vary: "Accept"], true),
        ] as [(String, HTTPFields, Bool)])
    func worthKeeping(cacheControl: String, more: HTTPFields, isKept: Bool) {
        #expect(held(cacheControl, more).response.isWorthKeeping == isKept)
    }

    @Test("an error is kept for as long as its server says, and no longer")
    func errorsWorthKeeping() {
        #expect(held("max-age=60", status: 404).response.isWorthKeeping)
        #expect(!held("max-age=0", [.eTag: "\"a\""], status: 404).response.isWorthKeeping)
    }

    @Test("a stale error stands in for nothing")
    func staleError() throws {
        let one = held("max-age=60", status: 404)
        #expect(decide([one], after: 59) == .serve(one))
        #expect(decide([one], after: 60) == .validate(one, ifError: false, .stale))
        #expect(decide([one], after: 60, isOffline: true) == .refuse(one))
    }

    @Test("§4.1: of those that match the request's fields the most recent counts, and when none does it is a vary-miss")
    func vary() throws {
        let german = held("max-age=60", [.vary: "Accept-Language"], asked: [language: "de"])
        let newer = held(
            "max-age=60", [.vary: "Accept-Language"], asked: [language: "de"], after: 5, place: 2)
        let french = held(
            "max-age=60", [.vary: "Accept-Language"], asked: [language: "fr"], after: 9, place: 3)
        let all = [german, newer, french]
        #expect(decide(all, [language: "de"], after: 10) == .serve(newer))
        #expect(decide(all, [language: "DE"], after: 10) == .serve(newer), "a language tag is the same in any case")
        #expect(decide(all, [language: "fr"], after: 10) == .serve(french))
        #expect(decide(all, after: 10) == .fetch(.varyMiss))
    }

    @Test("§4.4: what was invalidated is validated whatever its age, and stands in for nothing")
    func invalidated() throws {
        let one = held("max-age=60")
        let marked = reread(one.metadata(invalidAt: dawn + 1_000))
        #expect(marked.isInvalid && marked.entry.metadata.freshUntil == dawn + 1_000)
        #expect(decide([marked], after: 2) == .validate(marked, ifError: false, .stale))
        #expect(decide([marked], after: 2, isOffline: true) == .refuse(marked))
        #expect(!reread(marked.metadata(renewedAs: marked.response)).isInvalid, "validating makes it good again")
    }
}

@Suite struct HeldResponseTests {
    @Test("a response comes back from its entry as it was: status, fields in order, times, and what was asked")
    func roundTrip() throws {
        let fields: HTTPFields = [
            .contentType: "text/html", .setCookie: "a=1", .setCookie: "b=2", .vary: "Accept, Accept-Language",
            .date: HTTPDate.text(dawn / 1_000),
        ]
        let response = StoredResponse(status: 404, fields: fields, requestTime: dawn - 70, responseTime: dawn)
        let asked: HTTPFields = [.accept: "text/html", language: "de", .userAgent: "x"]
        let again = reread(
            HeldResponse.metadata(
                of: response, asked: asked, key: HeldResponse.place(1, of: url), mediaType: "text/html"))
        #expect(again.response == response)
        #expect(again.asked == [.accept: "text/html", language: "de"], "only what Vary names")
        #expect(!again.entry.isCover && HeldResponse.keys(of: url).contains(again.key))
    }

    @Test("a cover the library has fetched answers the requests that are like its own")
    func ownCovers() throws {
        let metadata = EntryMetadata(
            key: url, mediaType: "image/jpeg", storedAt: dawn,
            fields: "vary: Accept\ncache-control: max-age=60\ntried at: 1\n")
        let cover = reread(metadata, own: [.accept: "image/*"])
        #expect(cover.entry.isCover && cover.response.fields[.contentType] == "image/jpeg")
        #expect(cover.matches([.accept: "image/*"]) && !cover.matches([.accept: "text/html"]))
    }
}
