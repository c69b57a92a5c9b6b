import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite struct RetryAfterTests {
    /// 2024-01-01, in seconds and in milliseconds.
    private static let now: Int64 = 1_704_067_200

    private static func freshUntil(_ fields: HTTPFields) -> Int64? {
        let stored = StoredResponse(status: 200, fields: fields, requestTime: now * 1_000, responseTime: now * 1_000)
        _ = stored.mayBeStale(at: now * 1_000 + 1)
        return stored.freshness.knownFreshUntil
    }

    @Test(
        arguments: [
            ("120", .seconds(120)), ("0", .zero), ("Mon, 01 Jan 2024 00:01:30 GMT", .seconds(90)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("-5", nil), ("soon", nil), ("", nil), ("1.5", nil),
            ("99999999999999999999", .seconds(31_536_000)), ("31536001", .seconds(31_536_000)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(31_536_000)), ("5, 60, 7", .seconds(60)),
            ("soon, 7", .seconds(7)),
        ] as [(String, Duration?)])
    func `Retry-After is read as seconds or as a date`(text: String, expected: Duration?) {
        #expect(RetryAfter.delay([.retryAfter: text], now: Self.now) == expected)
    }

    @Test(arguments: [(-3_600, 0), (3_600, 0), (0, 0), (-3_600, 60)] as [(Int64, Int64)])
    func `a date in Retry-After is by the clock of the response's Date and Age`(skew: Int64, age: Int64) {
        let server = Self.now + skew
        var fields: HTTPFields = [.retryAfter: HTTPDate.text(server + 3), .date: HTTPDate.text(server - age)]
        if age > 0 { fields[.age] = "\(age)" }
        #expect(RetryAfter.delay(fields, now: Self.now) == .seconds(3))
        fields[.retryAfter] = "3"
        #expect(RetryAfter.delay(fields, now: Self.now) == .seconds(3))
    }

    @Test func `of several Retry-After lines the longest delay counts, and without any there is none`() {
        var fields: HTTPFields = [.retryAfter: "30"]
        fields.append(HTTPField(name: .retryAfter, value: "Mon, 01 Jan 2024 00:01:30 GMT"))
        fields.append(HTTPField(name: .retryAfter, value: "garbage"))
        #expect(RetryAfter.delay(fields, now: Self.now) == .seconds(90))
        #expect(RetryAfter.delay([.date: "0"], now: Self.now) == nil)
    }

    @Test func `no number from a server overflows`() async {
        // In a separate process: an overflow traps.
        await #expect(processExitsWith: .success) {
            let far = [
                "9223372036854775807", "-9223372036854775808", "99999999999999999999", "9223372036854775", "0", "-1",
            ]
            for first in far {
                for second in far {
                    _ = Self.freshUntil([.cacheControl: "max-age=\(first), stale-if-error=\(second)", .age: second])
                }
                let date = "Sun, 06 Nov \(first) 08:49:37 GMT"
                _ = HTTPDate.seconds(date)
                _ = HTTPDate.seconds("Sun Nov  6 08:49:37 \(first)")
                _ = Self.freshUntil([.expires: date, .lastModified: date, .date: date])
                _ = RetryAfter.delay([.retryAfter: date], now: Self.now)
                _ = RetryAfter.delay([.retryAfter: first], now: Self.now)
            }
        }
    }
}
