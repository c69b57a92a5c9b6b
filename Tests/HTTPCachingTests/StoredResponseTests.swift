import HTTPTypes
import Testing

@testable import HTTPCaching

/// 2024-01-01 00:00:00 GMT, in seconds.
private let dawn: Int64 = 1_704_067_200

/// A response that was asked for at dawn and came at once; times in seconds after dawn.
private func response(_ fields: HTTPFields, status: Int = 200, asked: Int64 = 0, came: Int64 = 0) -> StoredResponse {
    StoredResponse(
        status: status, fields: fields, requestTime: (dawn + asked) * 1_000, responseTime: (dawn + came) * 1_000)
}

private func date(_ seconds: Int64) -> String { HTTPDate.text(dawn + seconds) }
private func at(_ seconds: Int64) -> Int64 { (dawn + seconds) * 1_000 }

@Suite("RFC 9111 §4.2: freshness") struct StoredResponseTests {
    @Test("§4.2.3: the age is what Age says and the transfer took, and the time here since")
    func age() {
        let stored = response([.date: date(0), .age: "100"], asked: 0, came: 3)
        #expect(stored.initialAge == 103_000)
        #expect(stored.age(at: at(13)) == 113_000)
    }

    @Test("§4.2.3: a Date long past makes a response old without Age")
    func apparentAge() {
        #expect(response([.date: date(-500), .age: "100"]).initialAge == 500_000)
        #expect(response([.date: date(500)]).initialAge == 0, "a clock that is ahead makes nothing younger")
        #expect(response([:]).initialAge == 0, "without Date it was made when it came (RFC 9110 §6.6.1)")
    }

    @Test(
        "§5.1: the first Age counts, and one that is no number counts as none",
        arguments: [
            ("7200", 7_200), ("7200, 0", 7_200), ("0, 7200", 0), ("abc", 0), ("-7200", 0), ("7200.0", 0),
            ("2147483649", 1 << 31),
        ] as [(String, Int64)])
    func sentAge(text: String, expected: Int64) { #expect(response([.age: text]).initialAge == expected * 1_000) }

    @Test("§4.2.1: max-age comes before Expires, and Expires before what may be guessed")
    func lifetimes() {
        let modified = date(-100 * 86_400)
        #expect(response([.date: date(0), .lastModified: modified]).lifetime == 7 * 86_400_000)
        #expect(response([.date: date(0), .lastModified: modified, .expires: date(60)]).lifetime == 60_000)
        let all = response([.date: date(0), .lastModified: modified, .expires: date(60), .cacheControl: "max-age=5"])
        #expect(all.lifetime == 5_000)
    }

    @Test(
        "§5.3: an Expires that is no date, or one of the past, means already expired",
        arguments: ["0", "-1", "soon", "", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 50 02:01:18 GMT"])
    func expired(text: String) {
        #expect(response([.date: date(0), .expires: text, .lastModified: date(-86_400)]).lifetime == 0)
        #expect(response([.date: date(0), .expires: date(-1)]).lifetime == 0)
    }

    @Test("§4.2.2: the guess is a tenth of the time since the last change, and a week at most")
    func heuristic() {
        #expect(response([.date: date(0), .lastModified: date(-1_000)]).lifetime == 100_000)
        #expect(response([.date: date(0), .lastModified: date(-71 * 86_400)]).lifetime == 7 * 86_400_000)
        #expect(response([.date: date(0), .lastModified: date(1_000)]).lifetime == 0)
        #expect(response([.date: date(0)]).lifetime == 0, "nothing to guess from")
    }

    @Test("§4.2.2: nothing is guessed for a status that is not cacheable by itself, unless the server says public")
    func heuristicStatus() {
        let fields: HTTPFields = [.date: date(0), .lastModified: date(-1_000)]
        #expect(response(fields, status: 302).lifetime == 0)
        #expect(response(fields, status: 404).lifetime == 100_000)
        var open = fields
        open[.cacheControl] = "public"
        #expect(response(open, status: 302).lifetime == 100_000)
    }

    @Test("§4.2: it stops being fresh when its age reaches its lifetime")
    func freshUntil() {
        let stored = response([.date: date(-10), .age: "20", .cacheControl: "max-age=60"], came: 0)
        #expect(stored.freshUntil == at(40))
        #expect(stored.reuse(at: at(40) - 1) == .fresh)
        #expect(stored.reuse(at: at(40)) == .afterValidation(ifError: true))
    }

    @Test("what a response says nothing of, and nothing tells of, is not known")
    func unknown() {
        #expect(response([:]).knownFreshUntil == nil)
        #expect(response([.cacheControl: "s-maxage=60"]).knownFreshUntil == nil, "for shared caches alone (§5.2.2.10)")
        #expect(response([.cacheControl: "max-age=60"]).knownFreshUntil == at(60))
        #expect(response([.cacheControl: "no-cache"]).knownFreshUntil == at(0))
        #expect(response([.cacheControl: "max-age=60", .vary: "Accept, *"]).knownFreshUntil == at(0), "§4.1")
    }

    @Test("an entry keeps the fields to the byte, but for those that are none of its business")
    func kept() {
        let fields: HTTPFields = [
            .contentType: "image/jpeg", .eTag: "W/\"a: b\"", .retryAfter: "5", .lastModified: "yesterday, I think",
        ]
        #expect(response(fields).keptFields == "etag: W/\"a: b\"\nlast-modified: yesterday, I think\n")
    }

    @Test("§5.2.2.3: must-understand lets who knows the status keep it in spite of no-store")
    func mustUnderstand() {
        let fields: HTTPFields = [.cacheControl: "max-age=60, no-store, must-understand"]
        #expect(response(fields).isStorable() && !response(fields, status: 599).isStorable())
        #expect(!response(fields).isStorable(request: CacheDirectives("no-store")))
    }

    @Test("§3: no-store, of the response or of the request, forbids keeping it, and so does an incomplete body")
    func storable() {
        #expect(response([:]).isStorable())
        #expect(!response([.cacheControl: "no-store, max-age=60"]).isStorable())
        #expect(!response([:]).isStorable(request: CacheDirectives("no-store")))
        #expect(!response([:], status: 206).isStorable())
        #expect(response([.cacheControl: "private"]).isStorable(), "this cache is private (§5.2.2.7)")
        #expect(!response([:], status: 302).isStorable())
        #expect(response([.cacheControl: "max-age=60"], status: 302).isStorable())
        #expect(response([.expires: date(60)], status: 500).isStorable())
    }
}

@Suite("RFC 9111 §4: reuse") struct ReuseTests {
    private func stored(_ control: String) -> StoredResponse { response([.date: date(0), .cacheControl: control]) }

    @Test("§5.2.2.4: no-cache is validated every time, and never used instead of an answer")
    func noCache() {
        #expect(stored("no-cache, max-age=60").reuse(at: at(1)) == .afterValidation(ifError: false))
        #expect(stored("no-cache, max-age=60").freshUntil == at(0))
    }

    @Test("§5.2.2.2: must-revalidate forbids the stale response, whatever else allows it")
    func mustRevalidate() {
        let stored = stored("max-age=10, must-revalidate, stale-while-revalidate=100, stale-if-error=100")
        #expect(stored.reuse(at: at(5)) == .fresh)
        #expect(stored.reuse(at: at(11)) == .afterValidation(ifError: false))
        #expect(stored.reuse(at: at(11), request: CacheDirectives("max-stale")) == .afterValidation(ifError: false))
    }

    @Test("RFC 5861 §3: stale-while-revalidate allows it for so long after it was fresh")
    func whileRevalidating() {
        let stored = stored("max-age=10, stale-while-revalidate=5")
        #expect(stored.reuse(at: at(10)) == .whileRevalidating)
        #expect(stored.reuse(at: at(15)) == .whileRevalidating)
        #expect(stored.reuse(at: at(16)) == .afterValidation(ifError: true))
    }

    @Test("RFC 8246 §2: what is immutable is not asked about again by a reload while it is fresh, but is by no-cache")
    func immutable() {
        let stored = response([.date: date(0), .cacheControl: "max-age=60, immutable"])
        #expect(stored.reuse(at: at(30), request: CacheDirectives("max-age=0")) == .fresh)
        #expect(stored.reuse(at: at(30), request: CacheDirectives("no-cache")) == .afterValidation(ifError: true))
        #expect(stored.reuse(at: at(60), request: CacheDirectives("max-age=0")) == .afterValidation(ifError: true))
    }

    @Test("RFC 5861 §4: a request may be content with a staler one when the server fails")
    func requestedStaleIfError() {
        let stored = response([.date: date(0), .cacheControl: "max-age=60, stale-if-error=10"])
        #expect(stored.reuse(at: at(75)) == .afterValidation(ifError: false))
        #expect(
            stored.reuse(at: at(75), request: CacheDirectives("stale-if-error=20")) == .afterValidation(ifError: true))
    }

    @Test("RFC 5861 §4: stale-if-error allows it for so long, §4.2.4: without it a server out of reach does")
    func ifError() {
        #expect(stored("max-age=10, stale-if-error=5").reuse(at: at(15)) == .afterValidation(ifError: true))
        #expect(stored("max-age=10, stale-if-error=5").reuse(at: at(16)) == .afterValidation(ifError: false))
        #expect(stored("max-age=10").reuse(at: at(1_000_000)) == .afterValidation(ifError: true))
    }

    @Test(
        "§5.2.1: a request may want it younger, fresher, or be content with a stale one",
        arguments: [
            ("max-age=20", 30, .afterValidation(ifError: true)), ("max-age=40", 30, .fresh),
            ("max-age=0", 0, .fresh), ("max-age=0", 1, .afterValidation(ifError: true)),
            ("min-fresh=20", 30, .fresh), ("min-fresh=31", 30, .afterValidation(ifError: true)),
            ("no-cache", 0, .afterValidation(ifError: true)), ("max-stale", 1_000, .fresh),
            ("max-stale=10", 70, .fresh), ("max-stale=9", 70, .afterValidation(ifError: true)),
        ] as [(String, Int64, Reuse)])
    func requests(control: String, now: Int64, expected: Reuse) {
        #expect(stored("max-age=60").reuse(at: at(now), request: CacheDirectives(control)) == expected)
    }
}

@Suite("RFC 9111 §4.3: validation") struct ValidationTests {
    @Test("§4.3.1: both validators are sent, to the byte")
    func conditions() {
        let odd = "W/\"a,  \\b\""
        let conditions = response([.eTag: odd, .lastModified: "Yesterday"]).conditions
        #expect(conditions[.ifNoneMatch] == odd && conditions[.ifModifiedSince] == "Yesterday")
        #expect(response([.date: date(0)]).conditions.isEmpty)
    }

    @Test("RFC 9110 §13.1.5: only a strong entity tag tells that a part belongs to the whole")
    func strongTag() {
        #expect(response([.eTag: "\"a\""]).strongTag == "\"a\"")
        #expect(response([.eTag: "W/\"a\""]).strongTag == nil)
        #expect(response([.eTag: "a", .lastModified: date(0)]).strongTag == nil)
    }

    @Test("§3.2: a 304 replaces what it names, and leaves what describes the body")
    func update() throws {
        let stored = response([
            .eTag: "\"a\"", .date: date(0), .age: "50", .cacheControl: "max-age=10", .contentType: "image/png",
            .contentLength: "500", .vary: "Accept",
        ])
        let updated = try #require(
            stored.updated(
                by: [.date: date(60), .cacheControl: "max-age=20", .contentType: "text/html", .contentLength: "0"],
                requestTime: at(60), responseTime: at(60)))
        #expect(updated.fields[.cacheControl] == "max-age=20" && updated.fields[.vary] == "Accept")
        #expect(updated.fields[.contentType] == "image/png" && updated.fields[.contentLength] == "500")
        #expect(updated.fields[.eTag] == "\"a\"")
        #expect(updated.initialAge == 0 && updated.freshUntil == at(80), "its age is counted anew")
    }

    @Test("§4.3.4: a 304 with another strong entity tag is about another response")
    func otherTag() {
        let stored = response([.eTag: "\"a\""])
        #expect(stored.updated(by: [.eTag: "\"b\""], requestTime: at(0), responseTime: at(0)) == nil)
        #expect(stored.updated(by: [.eTag: "\"a\""], requestTime: at(0), responseTime: at(0)) != nil)
        #expect(stored.updated(by: [.eTag: "W/\"b\""], requestTime: at(0), responseTime: at(0)) != nil)
        let weak = response([.eTag: "W/\"a\""])
        #expect(weak.updated(by: [.eTag: "\"a\""], requestTime: at(0), responseTime: at(0)) != nil)
    }
}

@Suite("RFC 9111 §4.1: Vary") struct VarianceTests {
    @Test("a response answers requests whose named fields are the same, but for white space and lines")
    func matching() {
        let accept = HTTPField.Name("Accept")!
        #expect(Variance.matches(["Accept"], stored: [accept: "a,  b"], asked: [accept: "a, b"]))
        #expect(!Variance.matches(["ACCEPT"], stored: [accept: "a"], asked: [accept: "b"]))
        #expect(!Variance.matches(["accept"], stored: [:], asked: [accept: "b"]))
        #expect(Variance.matches(["accept, foo", "bar"], stored: [accept: "a"], asked: [accept: "a"]))
        #expect(Variance.matches([], stored: [accept: "a"], asked: [:]))
        var lines = HTTPFields()
        lines.append(HTTPField(name: accept, value: "a"))
        lines.append(HTTPField(name: accept, value: "b"))
        #expect(Variance.matches(["accept"], stored: lines, asked: [accept: "a,b"]))
    }

    @Test(
        "language tags, codings and character sets are the same in any case (RFC 9110 §8.4.1, §8.5.1); no other field is"
    )
    func anyCase() {
        #expect(
            Variance.matches(
                ["Accept-Language"], stored: [.acceptLanguage: "de, EN"], asked: [.acceptLanguage: "DE, en"]))
        #expect(!Variance.matches(["Cookie"], stored: [.cookie: "a"], asked: [.cookie: "A"]))
    }

    @Test("* answers none", arguments: ["*", "Accept, *", " * "])
    func star(vary: String) { #expect(!Variance.matches([vary], stored: [:], asked: [:])) }
}
