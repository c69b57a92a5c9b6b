import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 3, section 4.2: storing and freshness.
@Suite struct FreshnessTests {
    @Test func `§4.2.3: the age is the sum of Age, the duration of the transfer and the time since`() {
        let stored = response([.date: date(0), .age: "100"], sent: 0, arrived: 3)
        #expect(stored.freshness.initialAge == 103_000)
        #expect(stored.freshness.age(at: at(13)) == 113_000)
    }

    @Test func `§4.2.3: a Date long past makes a response old without Age`() {
        #expect(response([.date: date(-500), .age: "100"]).freshness.initialAge == 500_000)
        #expect(
            response([.date: date(500)]).freshness.initialAge == 0,
            "a Date in the future does not make the response younger")
        #expect(
            response([:]).freshness.initialAge == 0,
            "a response without Date was generated when it arrived (RFC 9110 §6.6.1)")
    }

    @Test(
        arguments: [
            ("7200", 7_200), ("7200, 0", 7_200), ("0, 7200", 0), ("abc", 0), ("-7200", 0), ("7200.0", 0),
            ("2147483649", 1 << 31),
        ] as [(String, Int64)])
    func `§5.1: the first Age counts, and an invalid one is ignored`(text: String, expected: Int64) {
        #expect(response([.age: text]).freshness.initialAge == expected * 1_000)
    }

    @Test func `§4.2.1: max-age comes before Expires, and Expires before the heuristic`() {
        let modified = date(-100 * 86_400)
        #expect(response([.date: date(0), .lastModified: modified]).freshness.lifetime == 7 * 86_400_000)
        #expect(response([.date: date(0), .lastModified: modified, .expires: date(60)]).freshness.lifetime == 60_000)
        let all = response([.date: date(0), .lastModified: modified, .expires: date(60), .cacheControl: "max-age=5"])
        #expect(all.freshness.lifetime == 5_000)
    }

    @Test(arguments: ["0", "-1", "soon", "", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 50 02:01:18 GMT"])
    func `§5.3: an Expires that is no date, or in the past, means already expired`(text: String) {
        #expect(response([.date: date(0), .expires: text, .lastModified: date(-86_400)]).freshness.lifetime == 0)
        #expect(response([.date: date(0), .expires: date(-1)]).freshness.lifetime == 0)
    }

    @Test func `§4.2.2: the heuristic is a tenth of the time since the last change, at most a week`() {
        #expect(response([.date: date(0), .lastModified: date(-1_000)]).freshness.lifetime == 100_000)
        #expect(response([.date: date(0), .lastModified: date(-71 * 86_400)]).freshness.lifetime == 7 * 86_400_000)
        #expect(response([.date: date(0), .lastModified: date(1_000)]).freshness.lifetime == 0)
        #expect(response([.date: date(0)]).freshness.lifetime == 0, "no Last-Modified")
    }

    @Test func `a server's wrong clock does not make a response fresh for years`() {
        let year: Int64 = 365 * 86_400
        #expect(response([.expires: date(9 * year)]).freshness.freshUntil <= at(year), "Expires, without Date")
        #expect(response([.date: date(9 * year), .expires: date(9 * year + 60)]).freshness.freshUntil == at(60))
        let modified = response([.date: date(9 * year), .lastModified: date(-1_000)]).freshness
        #expect(modified.freshUntil == at(100), "a Date ahead of the response does not lengthen the heuristic")
        #expect(response([.date: date(9 * year), .lastModified: date(9 * year - 1_000)]).freshness.lifetime == 0)
    }

    @Test func `§4.2.2: the heuristic holds only for statuses that are heuristically cacheable, or with public`() {
        let fields: HTTPFields = [.date: date(0), .lastModified: date(-1_000)]
        #expect(response(fields, status: 302).freshness.lifetime == 0)
        #expect(response(fields, status: 404).freshness.lifetime == 100_000)
        var open = fields
        open[.cacheControl] = "public"
        #expect(response(open, status: 302).freshness.lifetime == 100_000)
    }

    @Test func `§4.2: a response stops being fresh when its age reaches its lifetime`() {
        let stored = response([.date: date(-10), .age: "20", .cacheControl: "max-age=60"])
        #expect(stored.freshness.freshUntil == at(40))
        #expect(stored.freshness.age(at: at(40)) == stored.freshness.lifetime)
    }

    @Test func `without an explicit lifetime or a heuristic the end of freshness is unknown`() {
        #expect(response([:]).knownFreshUntil == nil)
        #expect(response([.cacheControl: "s-maxage=60"]).knownFreshUntil == nil, "for shared caches only (§5.2.2.10)")
        #expect(response([.cacheControl: "max-age=60"]).knownFreshUntil == at(60))
        #expect(response([.cacheControl: "no-cache"]).knownFreshUntil == at(0))
        #expect(response([.cacheControl: "max-age=60", .vary: "Accept, *"]).knownFreshUntil == at(0), "§4.1")
    }

    @Test func `an entry stores the fields to the byte, without those that hold for one exchange`() {
        let fields: HTTPFields = [
            .contentType: "image/jpeg", .eTag: "W/\"a: b\"", .retryAfter: "5", .lastModified: "yesterday, I think",
        ]
        #expect(response(fields).keptFields == "etag: W/\"a: b\"\nlast-modified: yesterday, I think\n")
    }

    @Test func `§5.2.2.3: must-understand overrides no-store for an understood status`() {
        let fields: HTTPFields = [.cacheControl: "max-age=60, no-store, must-understand"]
        #expect(response(fields).isStorable && !response(fields, status: 599).isStorable)
    }

    @Test func `§3: no-store forbids storing, and so does an incomplete body`() {
        #expect(response([:]).isStorable)
        #expect(!response([.cacheControl: "no-store, max-age=60"]).isStorable)
        #expect(!response([:], status: 206).isStorable)
        #expect(response([.cacheControl: "private"]).isStorable, "this cache is private (§5.2.2.7)")
        #expect(!response([:], status: 302).isStorable)
        #expect(response([.cacheControl: "max-age=60"], status: 302).isStorable)
        #expect(response([.expires: date(60)], status: 500).isStorable)
    }
}
