import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite struct RateLimitTests {
    private func limit(_ fields: HTTPFields) -> (Int, Duration)? {
        RateLimit(fields, now: 1_700_000_000).map { ($0.remaining, $0.reset) }
    }

    @Test func `the remaining requests and the reset are read from all forms of the fields`() throws {
        let forms: [HTTPFields] = [
            [.rateLimit: #""default";r=7;t=30"#], [.rateLimit: "limit=100, remaining=7, reset=30"],
            [.rateLimitRemaining: "7", .rateLimitReset: "30"], [.xRateLimitRemaining: "7", .xRateLimitReset: "30"],
            [.xRateLimitRemaining: "7", .xRateLimitReset: "1700000030"],
            [.xRateLimitRemaining: "7", .xRateLimitReset: "1700000030000"],
            [.xRateLimitRemaining: "7", .xRateLimitReset: "Tue, 14 Nov 2023 22:13:50 GMT"],
        ]
        for fields in forms {
            let found = try #require(limit(fields))
            #expect(found == (7, .seconds(30)))
        }
    }

    @Test func `of several policies the one with the fewest requests left counts`() throws {
        let found = try #require(limit([.rateLimit: #""minute";r=90;t=50, "second";r=0;t=1"#]))
        #expect(found == (0, .seconds(1)))
    }

    @Test(arguments: [
        #""a,b";r=7;t=30"#, #""a;r=0;t=99";r=7;t=30"#, #""a\";r=0;t=99,";r=7;t=30, "b,\\";r=8;t=1"#,
        #""remaining=0, reset=9";r=7;t=30"#,
    ])
    func `RFC 9651 §3.3.3: a quoted string is a name, whatever it contains`(text: String) throws {
        let found = try #require(limit([.rateLimit: text]))
        #expect(found == (7, .seconds(30)))
    }

    @Test func `incomplete and invalid fields are ignored`() {
        let invalid: [HTTPFields] = [
            [:], [.rateLimit: "r=7"], [.rateLimit: ""], [.xRateLimitRemaining: "7"],
            [.xRateLimitRemaining: "many", .xRateLimitReset: "1"],
            [.rateLimit: #""default";q=100;w=10"#], [.xRateLimitRemaining: "-1", .xRateLimitReset: "30"],
            [.rateLimit: "remaining=-1, reset=30"], [.xDiscogsRateLimitRemaining: "-1"],
        ]
        for fields in invalid { #expect(limit(fields) == nil) }
    }

    @Test func `a reset in the past is now`() throws {
        let found = try #require(limit([.xRateLimitRemaining: "0", .xRateLimitReset: "1600000000"]))
        #expect(found == (0, .zero))
    }

    @Test func `a quota that resets in more than a minute, or in an unknown unit, is ignored`() {
        for reset in ["61", "30000", "86400", "1700000061", "1700086400000", "1700000030000000", "9223372036854775807"]
        {
            #expect(limit([.xRateLimitRemaining: "0", .xRateLimitReset: reset]) == nil, "\(reset)")
        }
        #expect(limit([.rateLimit: #""month";r=0;t=86400"#]) == nil)
    }

    @Test func `Discogs states the requests that are left of a minute`() {
        let limit = RateLimit([.xDiscogsRateLimitRemaining: "12"], now: 0)
        #expect(limit?.remaining == 12 && limit?.reset == .seconds(60))
        #expect(RateLimit([.xDiscogsRateLimitRemaining: "many"], now: 0) == nil)
    }
}
