import HTTPTypes
import Testing

@testable import HTTPCaching

/// What a private cache may do with a response, and with the redirects that led to it.
///
///     301 cache-control: max-age=60 > 200 date: @-5; expires: @55
///
/// is a redirect and its target's response, which arrive together; `@55` is the date 55 seconds later. What follows is one of
///
///     fresh 55 stale          fresh for 55 seconds, and then used as long as its server is not asked
///     fresh 55 stale 60 ask   not used unasked from 60 seconds on
///     ask                     confirmed by its server before each use
///     absent 600              a 404 that is believed for ten minutes
///     none                    not stored, or not believed
@Suite struct PrivateCacheTests {
    @Test(arguments: [
        // Directives and their numbers.
        ("200 cache-control: max-age=60", "fresh 60 stale"),
        ("200 cache-control: MAX-AGE=60", "fresh 60 stale"),
        ("200 cache-control: max-age=\"60\"", "fresh 60 stale"),
        ("200 cache-control: max-age=0060", "fresh 60 stale"),
        ("200 cache-control: ,, max-age=60 ,", "fresh 60 stale"),
        ("200 cache-control: max-age=60; cache-control: max-age=5", "fresh 60 stale"),
        ("200 cache-control: public; cache-control: max-age=60", "fresh 60 stale"),
        ("200 cache-control: x=\"no-store, max-age=5\", max-age=60", "fresh 60 stale"),
        ("200 cache-control: max-age=0", "stale"),
        ("200 cache-control: max-age=-1", "stale"),
        ("200 cache-control: max-age=60s", "stale"),
        ("200 cache-control: max-age", "stale"),
        ("200 cache-control: max-age=2147483648", "fresh 2147483648 stale"),
        ("200 cache-control: max-age=99999999999999999999", "fresh 2147483648 stale"),
        ("200 cache-control: s-maxage=60", "stale"),
        ("200 cache-control: max-age=60, s-maxage=5, proxy-revalidate", "fresh 60 stale"),
        ("200 cache-control: max-age=60, private", "fresh 60 stale"),
        ("200 cache-control: max-age=60, private=\"x\"", "fresh 60 stale"),
        ("200 cache-control: max-age=60, no-transform, only-if-cached, surprise", "fresh 60 stale"),
        ("200 pragma: no-cache; cache-control: max-age=60", "fresh 60 stale"),
        // Which of the lifetimes counts.
        ("200 date: @0; expires: @60", "fresh 60 stale"),
        ("200 date: @0; expires: @60; cache-control: max-age=5", "fresh 5 stale"),
        ("200 date: @0; expires: @5; cache-control: max-age=60", "fresh 60 stale"),
        ("200 date: @0; expires: @60; last-modified: @-1000", "fresh 60 stale"),
        ("200 date: @0; expires: 0; last-modified: @-1000", "stale"),
        ("200 date: @0; expires: -1", "stale"),
        ("200 date: @0; expires:", "stale"),
        ("200 date: @0; expires: @-1", "stale"),
        ("200 date: @0; expires: Thu, 18 Aug 2050 02:01:18 UTC", "stale"),
        ("200 date: @0; expires: Thu, 18 Aug 50 02:01:18 GMT", "stale"),
        ("200 date: @0; expires: @60; expires: @120", "stale"),
        ("200 expires: @60", "fresh 60 stale"),
        ("200 date: @-300000000; expires: @300000000", "stale"),
        ("200 expires: @300000000", "fresh 31536000 stale"),
        // The heuristic.
        ("200 date: @0; last-modified: @-1000", "fresh 100 stale"),
        ("203 date: @0; last-modified: @-1000", "fresh 100 stale"),
        ("200 date: @0; last-modified: @-100000000", "fresh 604800 stale"),
        ("200 date: @0; last-modified: @1000", "stale"),
        ("200 date: @0; last-modified: yesterday", "stale"),
        ("200 date: @0", "stale"),
        ("200 date: @1000; last-modified: @-1000", "fresh 100 stale"),
        ("200 date: @1000; last-modified: @900", "stale"),
        // The age at arrival.
        ("200 date: @-20; cache-control: max-age=60", "fresh 40 stale"),
        ("200 age: 20; cache-control: max-age=60", "fresh 40 stale"),
        ("200 date: @-10; age: 20; cache-control: max-age=60", "fresh 40 stale"),
        ("200 date: @-30; age: 20; cache-control: max-age=60", "fresh 30 stale"),
        ("200 age: 60; cache-control: max-age=60", "stale"),
        ("200 age: 20, 0; cache-control: max-age=60", "fresh 40 stale"),
        ("200 age: 0, 20; cache-control: max-age=60", "fresh 60 stale"),
        ("200 age: -20; cache-control: max-age=60", "fresh 60 stale"),
        ("200 age: 20.0; cache-control: max-age=60", "fresh 60 stale"),
        ("200 age: 2147483649; cache-control: max-age=60", "stale"),
        ("200 date: @30; cache-control: max-age=60", "fresh 60 stale"),
        ("200 date: @30; expires: @60", "fresh 30 stale"),
        ("200 date: @-20; last-modified: @-1020", "fresh 80 stale"),
    ])
    func `RFC 9111 §4.2: a response is fresh for its lifetime, less its age`(chain: String, expected: String) {
        #expect(Self.use(chain) == expected)
    }

    @Test(arguments: [
        ("200", "stale"),
        ("200 cache-control: no-store", "none"),
        ("200 cache-control: no-store, max-age=60", "none"),
        ("200 cache-control: No-Store", "none"),
        ("200 cache-control: nostore, max-age=60", "fresh 60 stale"),
        ("200 cache-control: no-store, must-understand, max-age=60", "fresh 60 stale"),
        ("599 cache-control: no-store, must-understand, max-age=60", "none"),
        ("206 cache-control: max-age=60", "none"),
        ("304 cache-control: max-age=60", "none"),
        ("302", "none"),
        ("302 date: @0; last-modified: @-1000", "none"),
        ("302 date: @0; last-modified: @-1000; cache-control: public", "fresh 100 stale"),
        ("302 cache-control: max-age=60", "fresh 60 stale"),
        ("500 expires: @60", "fresh 60 stale"),
        // Before each use.
        ("200 cache-control: no-cache", "ask"),
        ("200 cache-control: no-cache, max-age=60", "ask"),
        ("200 cache-control: no-cache=\"set-cookie\", max-age=60", "ask"),
        ("200 date: @0; last-modified: @-1000; cache-control: no-cache", "ask"),
        ("200 vary: *; cache-control: max-age=60", "ask"),
        ("200 vary: Accept, *; cache-control: max-age=60", "ask"),
        ("200 vary: Accept; vary: *; date: @0; last-modified: @-1000", "ask"),
        ("200 vary: *", "ask"),
        ("200 vary: Accept, User-Agent, Origin; cache-control: max-age=60", "fresh 60 stale"),
        // When it is stale.
        ("200 cache-control: must-revalidate", "ask"),
        ("200 cache-control: max-age=60, must-revalidate", "fresh 60 ask"),
        (
            "200 cache-control: max-age=60, Must-Revalidate, stale-if-error=100, stale-while-revalidate=100",
            "fresh 60 ask"
        ),
        ("200 cache-control: max-age=60, stale-if-error=5", "fresh 60 stale 65 ask"),
        ("200 cache-control: max-age=60, stale-if-error=0", "fresh 60 stale 60 ask"),
        ("200 cache-control: max-age=60, stale-while-revalidate=5", "fresh 60 stale"),
        ("200 cache-control: max-age=60, stale-if-error=5, stale-while-revalidate=9", "fresh 60 stale 69 ask"),
        ("200 cache-control: max-age=60, stale-if-error=soon", "fresh 60 stale"),
        ("200 age: 20; cache-control: max-age=60, stale-if-error=5", "fresh 40 stale 45 ask"),
    ])
    func `§3, §4.1, §4.2.4, RFC 5861: what is stored, and used stale`(chain: String, expected: String) {
        #expect(Self.use(chain) == expected)
    }

    @Test(arguments: [
        // One that says nothing: a week, unless the response says less.
        ("302 > 200 cache-control: max-age=60", "fresh 60 stale"),
        ("302 > 200 cache-control: max-age=31536000", "fresh 604800 stale"),
        ("301 > 200 cache-control: max-age=31536000, immutable", "fresh 604800 stale"),
        ("307 > 302 > 200 date: @0; last-modified: @-100000000", "fresh 604800 stale"),
        ("303 cache-control: public > 200 cache-control: max-age=31536000", "fresh 604800 stale"),
        ("302 > 200", "stale"),
        // The first lifetime that ends.
        ("302 cache-control: max-age=60 > 200 cache-control: max-age=3600", "fresh 60 stale"),
        ("302 cache-control: max-age=3600 > 200 cache-control: max-age=60", "fresh 60 stale"),
        ("302 date: @0; expires: @60 > 200 cache-control: max-age=3600", "fresh 60 stale"),
        ("302 age: 20; cache-control: max-age=60 > 200 cache-control: max-age=3600", "fresh 40 stale"),
        ("302 > 307 cache-control: max-age=60 > 200 cache-control: max-age=3600", "fresh 60 stale"),
        ("308 cache-control: max-age=31536000 > 200 cache-control: max-age=31536000", "fresh 31536000 stale"),
        ("302 cache-control: max-age=0 > 200 cache-control: max-age=3600", "stale"),
        ("301 expires: 0 > 200 cache-control: max-age=3600", "stale"),
        ("301 cache-control: max-age=60, stale-if-error=5 > 200 cache-control: max-age=3600", "fresh 60 stale 65 ask"),
        ("302 cache-control: max-age=60 > 200 cache-control: max-age=3600, stale-if-error=5", "fresh 60 stale 65 ask"),
        (
            "302 cache-control: stale-if-error=5 > 302 cache-control: max-age=60, stale-if-error=9 > 200 expires: @3600",
            "fresh 60 stale 65 ask"
        ),
        (
            "302 cache-control: stale-if-error=9 > 302 cache-control: max-age=60, stale-if-error=5 > 200 expires: @3600",
            "fresh 60 stale 65 ask"
        ),
        // Each directive, wherever in the chain.
        ("302 cache-control: no-store > 200 cache-control: max-age=3600", "ask"),
        ("301 > 302 cache-control: no-store, max-age=60 > 200 cache-control: max-age=3600", "ask"),
        ("302 cache-control: no-store > 301 cache-control: max-age=60 > 200", "ask"),
        ("302 cache-control: no-store > 200 cache-control: no-store", "none"),
        (
            "302 cache-control: no-store, must-understand, max-age=60 > 200 cache-control: max-age=3600",
            "fresh 60 stale"
        ),
        ("302 cache-control: no-cache > 200 cache-control: max-age=3600", "ask"),
        ("302 cache-control: max-age=60, no-cache > 302 > 200 cache-control: max-age=3600", "ask"),
        ("302 vary: * > 200 cache-control: max-age=3600", "ask"),
        ("302 vary: Accept > 200 cache-control: max-age=3600", "fresh 3600 stale"),
        ("302 cache-control: must-revalidate > 200 cache-control: max-age=3600", "fresh 3600 ask"),
        ("301 cache-control: max-age=60, must-revalidate > 200 cache-control: max-age=3600", "fresh 60 ask"),
        ("302 cache-control: max-age=0, must-revalidate > 200 cache-control: max-age=3600", "ask"),
        ("302 cache-control: private, max-age=60 > 200 cache-control: max-age=3600", "fresh 60 stale"),
        ("302 cache-control: max-age=60 > 200 cache-control: no-store", "none"),
        ("302 cache-control: max-age=60 > 200 cache-control: no-cache", "ask"),
        // To what is missing.
        ("302 > 404", "absent 600"),
        ("302 cache-control: max-age=60 > 404", "absent 60"),
        ("302 cache-control: max-age=60 > 404 cache-control: max-age=5", "absent 5"),
        ("302 cache-control: max-age=60 > 410", "absent 60"),
        ("302 cache-control: max-age=0 > 404", "none"),
        ("302 cache-control: no-store > 404", "none"),
        ("302 cache-control: no-cache > 404 cache-control: max-age=60", "none"),
        ("301 vary: * > 410", "none"),
        ("302 cache-control: must-revalidate > 404", "absent 600"),
    ])
    func `§4.2, RFC 9110 §15.4: what redirects say holds for what they led to`(chain: String, expected: String) {
        #expect(Self.use(chain) == expected)
        // An entry keeps what the redirects say as a line of text.
        let response = Self.response(chain), kept = response.redirects
        let entry = StoredResponse(
            status: response.status, fields: response.fields, requestTime: response.requestTime,
            responseTime: response.responseTime,
            redirects: RedirectChain(freshUntil: kept.freshUntil, restrictions: kept.directives.restrictions))
        #expect(Self.use(entry) == expected)
    }

    @Test(arguments: [
        ("404", "absent 600"),
        ("410", "absent 86400"),
        ("404 cache-control: max-age=60", "absent 60"),
        ("404 cache-control: max-age=60; age: 20", "absent 40"),
        ("404 date: @0; expires: @60", "absent 60"),
        ("410 cache-control: max-age=31536000", "absent 604800"),
        ("404 date: @0; last-modified: @-1000", "absent 600"),
        ("404 cache-control: max-age=0", "none"),
        ("404 expires: 0", "none"),
        ("404 cache-control: no-store", "none"),
        ("410 cache-control: no-cache, max-age=60", "none"),
        ("404 vary: *", "none"),
        ("404 cache-control: max-age=60; retry-after: 1", "none"),
        ("404 retry-after: 0", "absent 600"),
    ])
    func `§4, §4.2.2: a 404 is believed for ten minutes, a 410 for a day, or as long as they say, up to a week`(
        answer: String, expected: String
    ) {
        #expect(Self.use(answer) == expected)
    }

    @Test(arguments: [200, 400, 401, 403, 405, 429, 451, 500, 503])
    func `no other status says that there is no cover`(status: Int) {
        #expect(NegativeCaching.until(Self.response("\(status) cache-control: max-age=60")) == nil)
    }

    // MARK: -

    private static func response(_ chain: String) -> StoredResponse {
        let heads = chain.split(separator: " > ").map { head in
            let words = head.split(separator: " ", maxSplits: 1)
            var fields = HTTPFields()
            for line in words.dropFirst().joined().split(separator: "; ") {
                let (name, value) = (line.prefix { $0 != ":" }, line.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
                let text = value.first == "@" ? date(Int64(value.dropFirst())!) : String(value)
                fields.append(HTTPField(name: HTTPField.Name(String(name))!, value: text))
            }
            return HTTPResponse(status: .init(code: Int(words[0])!), headerFields: fields)
        }
        let last = heads[heads.count - 1]
        return StoredResponse(
            status: last.status.code, fields: last.headerFields, requestTime: at(0), responseTime: at(0),
            redirects: RedirectChain(Array(heads.dropLast()), now: at(0)))
    }

    private static func use(_ chain: String) -> String { use(response(chain)) }

    private static func use(_ response: StoredResponse) -> String {
        func seconds(_ time: Int64) -> Int64 { (time - at(0)) / 1_000 }
        if response.status == 404 || response.status == 410 {
            return NegativeCaching.until(response).map { "absent \(seconds($0))" } ?? "none"
        }
        if !response.isStorable { return "none" }
        let end = max(0, response.freshness.knownFreshUntil.map(seconds) ?? 0), fresh = end > 0 ? "fresh \(end) " : ""
        if !response.mayBeStale(at: at(end)) { return fresh + "ask" }
        if response.mayBeStale(at: at(end + 100_000_000_000)) { return fresh + "stale" }
        let last = (end...end + 1_000).last { response.mayBeStale(at: at($0)) } ?? end
        return fresh + "stale \(last) ask"
    }
}
