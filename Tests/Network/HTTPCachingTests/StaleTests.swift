import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 4.2.4: stale responses.
@Suite struct StaleTests {
    private func mayBeStale(_ control: String, after seconds: Int64) -> Bool {
        response([.date: date(0), .cacheControl: control]).mayBeStale(at: at(seconds))
    }

    @Test func `§5.2.2.4: a no-cache response is never used without its server`() {
        #expect(!mayBeStale("no-cache, max-age=60", after: 1))
        #expect(response([.date: date(0), .cacheControl: "no-cache, max-age=60"]).freshness.freshUntil == at(0))
    }

    @Test func `§5.2.2.2: must-revalidate forbids the stale response, whatever other directives allow`() {
        #expect(!mayBeStale("max-age=10, must-revalidate, stale-while-revalidate=100, stale-if-error=100", after: 11))
    }

    @Test func `RFC 5861: both directives limit the use of a stale response, the longer one counts`() {
        #expect(mayBeStale("max-age=10, stale-if-error=5", after: 15))
        #expect(!mayBeStale("max-age=10, stale-if-error=5", after: 16))
        #expect(mayBeStale("max-age=10, stale-if-error=5, stale-while-revalidate=9", after: 19))
        #expect(!mayBeStale("max-age=10, stale-if-error=5, stale-while-revalidate=9", after: 20))
    }

    @Test func `§4.2.4: without stale-if-error there is no limit`() {
        #expect(mayBeStale("max-age=10", after: 1_000_000))
        #expect(mayBeStale("max-age=10, stale-while-revalidate=5", after: 16))
    }
}
