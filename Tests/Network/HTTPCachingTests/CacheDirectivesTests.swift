import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 5.2: Cache-Control.
@Suite struct CacheDirectivesTests {
    @Test func `§5.2: directives match in any case and order, between empty elements`() {
        let directives = CacheDirectives(" ,NO-Store,, must-revalidate ,Private, pubLIC,immutable, no-cache,")
        #expect(directives.noStore && directives.mustRevalidate && directives.isPrivate && directives.isPublic)
        #expect(directives.isImmutable && directives.noCache)
        #expect(CacheDirectives("nostore, no-storey") == CacheDirectives())
    }

    @Test func `RFC 9110 §5.3: several lines are one list`() {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .cacheControl, value: "max-age=60"))
        fields.append(HTTPField(name: .cacheControl, value: "no-store"))
        #expect(CacheDirectives(fields).maxAge == 60 && CacheDirectives(fields).noStore)
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("max-age=\"60\"", 60), ("max-age=0060", 60), ("MAX-AGE=1 ", 1),
            ("max-age=2147483648", 1 << 31), ("max-age=99999999999999999999999999", 1 << 31),
        ] as [(String, Int64)])
    func `§1.2.2: delta-seconds are digits only, and at most 2³¹`(text: String, expected: Int64) {
        #expect(CacheDirectives(text).maxAge == expected)
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=a60", "max-age=60a", "max-age=-1", "max-age=1.5", "max-age='60'",
        "max-age= 60",
    ])
    func `§4.2.1: an invalid max-age makes the response stale`(text: String) {
        #expect(CacheDirectives(text).maxAge == 0)
    }

    @Test func `§4.2.1: the first of several values counts`() {
        #expect(CacheDirectives("max-age=1, max-age=1800").maxAge == 1)
        #expect(CacheDirectives("max-age=1800, max-age=1").maxAge == 1_800)
    }

    @Test func `RFC 9110 §5.6.4: a quoted string contains no directive`() {
        let directives = CacheDirectives(#"extension="max-age=3600, no-store, \"no-cache", max-age=1"#)
        #expect(directives.maxAge == 1 && !directives.noStore && !directives.noCache)
        #expect(CacheDirectives("max-age =3600").maxAge == nil, "a name has no space")
        #expect(
            CacheDirectives(#"a="\", max-age=", max-age="6\0", no-store"#) == CacheDirectives("max-age=60,no-store"))
        #expect(CacheDirectives(#"max-age="6\"#).maxAge == 0, "an unclosed string ends with the line")
    }

    @Test func `§5.2.2.4: no-cache with field names applies to the whole response`() {
        #expect(CacheDirectives(#"no-cache="Set-Cookie, X""#).noCache)
    }

    @Test func `RFC 5861: the directives limit the use of a stale response`() {
        let directives = CacheDirectives("stale-while-revalidate=30, stale-if-error=86400")
        #expect(directives.staleWhileRevalidate == 30 && directives.staleIfError == 86_400)
        #expect(CacheDirectives("stale-while-revalidate=soon").staleWhileRevalidate == nil)
    }
}
