import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite struct NegativeCachingTests {
    private static let now: Int64 = 1_700_000_000_000

    /// How long the response is cached, in milliseconds.
    private func time(_ status: Int, _ fields: HTTPFields = [:]) -> Int64? {
        NegativeCaching.until(
            StoredResponse(status: status, fields: fields, requestTime: Self.now, responseTime: Self.now)
        )
        .map { $0 - Self.now }
    }

    @Test
    func
        `RFC 9111 §4.2.2: without a lifetime a 404 is cached for ten minutes, a 410 for a day, other statuses not at all`()
    {
        #expect(time(404) == 600_000)
        #expect(time(410) == 86_400_000)
        for status in [200, 400, 401, 403, 405, 429, 451, 500, 503] { #expect(time(status) == nil) }
    }

    @Test func `§4.2.1: a stated lifetime counts, less the age, and at most a week`() {
        #expect(time(404, [.cacheControl: "max-age=60"]) == 60_000)
        #expect(time(404, [.cacheControl: "max-age=60", .age: "20"]) == 40_000)
        #expect(time(410, [.cacheControl: "max-age=31536000"]) == NegativeCaching.maximumLifetime)
        #expect(
            time(404, [.date: "Tue, 14 Nov 2023 22:13:20 GMT", .expires: "Tue, 14 Nov 2023 22:14:20 GMT"]) == 60_000)
    }

    @Test func `a response that is stale at arrival or must not be stored is not cached`() {
        #expect(time(404, [.cacheControl: "max-age=0"]) == nil)
        #expect(time(404, [.expires: "0"]) == nil)
        #expect(time(404, [.cacheControl: "no-store"]) == nil)
        #expect(time(410, [.cacheControl: "no-cache, max-age=60"]) == nil)
        #expect(time(404, [.vary: "*"]) == nil)
    }
}
