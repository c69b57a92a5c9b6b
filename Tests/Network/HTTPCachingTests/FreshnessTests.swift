import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 3, section 4.2: storing and freshness.
@Suite struct FreshnessTests {
    @Test func `§4.2.3: the age at arrival is the sum of Age and the duration of the transfer`() {
        #expect(response([.date: date(0), .age: "100"], sent: 0, arrived: 3).freshness.initialAge == 103_000)
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

    @Test func `without an explicit lifetime or a heuristic the end of freshness is unknown`() {
        #expect(response([:]).freshness.knownFreshUntil == nil)
        #expect(
            response([.cacheControl: "s-maxage=60"]).freshness.knownFreshUntil == nil,
            "for shared caches only (§5.2.2.10)")
        #expect(response([.cacheControl: "max-age=60"]).freshness.knownFreshUntil == at(60))
        #expect(response([.cacheControl: "no-cache"]).freshness.knownFreshUntil == at(0))
        #expect(response([.cacheControl: "max-age=60", .vary: "Accept, *"]).freshness.knownFreshUntil == at(0), "§4.1")
    }

    @Test func `an entry stores the fields to the byte, without those that hold for one exchange`() {
        let fields: HTTPFields = [
            .contentType: "image/jpeg", .eTag: "W/\"a: b\"", .retryAfter: "5", .lastModified: "yesterday, I think",
        ]
        #expect(response(fields).keptFields == "etag: W/\"a: b\"\nlast-modified: yesterday, I think\n")
    }
}
