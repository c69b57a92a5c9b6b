import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 4: reuse.
@Suite struct ReuseTests {
    private func stored(_ control: String) -> StoredResponse { response([.date: date(0), .cacheControl: control]) }

    @Test func `§5.2.2.4: a no-cache response is validated every time, and never used if the server fails`() {
        #expect(stored("no-cache, max-age=60").reuse(at: at(1)) == .afterValidation(ifError: false))
        #expect(stored("no-cache, max-age=60").freshness.freshUntil == at(0))
    }

    @Test func `§5.2.2.2: must-revalidate forbids the stale response, whatever other directives allow`() {
        let stored = stored("max-age=10, must-revalidate, stale-while-revalidate=100, stale-if-error=100")
        #expect(stored.reuse(at: at(5)) == .fresh)
        #expect(stored.reuse(at: at(11)) == .afterValidation(ifError: false))
        #expect(stored.reuse(at: at(11), request: CacheDirectives("max-stale")) == .afterValidation(ifError: false))
    }

    @Test func `RFC 5861 §3: stale-while-revalidate allows the stale response for that many seconds`() {
        let stored = stored("max-age=10, stale-while-revalidate=5")
        #expect(stored.reuse(at: at(10)) == .whileRevalidating)
        #expect(stored.reuse(at: at(15)) == .whileRevalidating)
        #expect(stored.reuse(at: at(16)) == .afterValidation(ifError: true))
    }

    @Test func `RFC 8246 §2: a reload does not validate a fresh immutable response; no-cache does`() {
        let stored = response([.date: date(0), .cacheControl: "max-age=60, immutable"])
        #expect(stored.reuse(at: at(30), request: CacheDirectives("max-age=0")) == .fresh)
        #expect(stored.reuse(at: at(30), request: CacheDirectives("no-cache")) == .afterValidation(ifError: true))
        #expect(stored.reuse(at: at(60), request: CacheDirectives("max-age=0")) == .afterValidation(ifError: true))
    }

    @Test func `RFC 5861 §4: a request may accept an older stale response when the server fails`() {
        let stored = response([.date: date(0), .cacheControl: "max-age=60, stale-if-error=10"])
        #expect(stored.reuse(at: at(75)) == .afterValidation(ifError: false))
        #expect(
            stored.reuse(at: at(75), request: CacheDirectives("stale-if-error=20")) == .afterValidation(ifError: true))
    }

    @Test func `RFC 5861 §4: stale-if-error limits the use of a stale response; §4.2.4: without it there is no limit`()
    {
        #expect(stored("max-age=10, stale-if-error=5").reuse(at: at(15)) == .afterValidation(ifError: true))
        #expect(stored("max-age=10, stale-if-error=5").reuse(at: at(16)) == .afterValidation(ifError: false))
        #expect(stored("max-age=10").reuse(at: at(1_000_000)) == .afterValidation(ifError: true))
    }

    @Test(
        arguments: [
            ("max-age=20", 30, .afterValidation(ifError: true)), ("max-age=40", 30, .fresh),
            ("max-age=0", 0, .fresh), ("max-age=0", 1, .afterValidation(ifError: true)),
            ("min-fresh=20", 30, .fresh), ("min-fresh=31", 30, .afterValidation(ifError: true)),
            ("no-cache", 0, .afterValidation(ifError: true)), ("max-stale", 1_000, .fresh),
            ("max-stale=10", 70, .fresh), ("max-stale=9", 70, .afterValidation(ifError: true)),
        ] as [(String, Int64, Reuse)])
    func `§5.2.1: a request may demand a younger or fresher response, or accept a stale one`(
        control: String, now: Int64, expected: Reuse
    ) {
        #expect(stored("max-age=60").reuse(at: at(now), request: CacheDirectives(control)) == expected)
    }
}
