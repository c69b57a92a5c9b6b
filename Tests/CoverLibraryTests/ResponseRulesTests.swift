import HTTPTypes
import OriginServer
import Testing

@testable import CoverLibrary
@testable import CurlHTTP

@Suite struct HTTPDateTests {
    @Test(
        "the three forms of RFC 9110's example are one moment",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func example(text: String) { #expect(HTTPDate.seconds(text) == 784_111_777) }

    @Test(
        "dates are counted through leap days and centuries",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Sat, 29 Feb 2020 12:00:00 GMT", 1_582_977_600),
            ("Sun, 01 Mar 2020 00:00:00 GMT", 1_583_020_800), ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Friday, 01-Jan-27 00:00:00 GMT", 1_798_761_600),
        ] as [(String, Int64)])
    func dates(text: String, expected: Int64) { #expect(HTTPDate.seconds(text) == expected) }

    @Test("names are known in any case, and a year of two digits is at most fifty years ahead")
    func tolerance() {
        #expect(HTTPDate.seconds("SUN, 06 nov 1994 08:49:37 gmt") == 784_111_777)
        let now: Int64 = 1_704_067_200  // 2024
        #expect(HTTPDate.seconds("Wednesday, 01-Jan-74 00:00:00 GMT", now: now) == 3_281_990_400)
        #expect(HTTPDate.seconds("Wednesday, 01-Jan-75 00:00:00 GMT", now: now) == 157_766_400)
    }

    @Test(
        "a moment is written as it is read",
        arguments: [0, 784_111_777, 951_782_400, 1_709_164_800, 4_107_542_400, -1] as [Int64])
    func text(moment: Int64) { #expect(HTTPDate.seconds(HTTPDate.text(moment)) == moment) }

    @Test(
        "what is none of the forms is no date",
        arguments: [
            "", "0", "-1", "tomorrow", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994", "Sun, 06 Nov year 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun Nov 6 08:49:37 1994",
        ])
    func noDates(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}

@Suite struct ResponseRulesTests {
    /// 2024-01-01, in seconds and in milliseconds.
    private static let now: Int64 = 1_704_067_200

    private static func freshUntil(_ fields: HTTPFields) -> Int64? {
        let stored = StoredResponse(status: 200, fields: fields, requestTime: now * 1_000, responseTime: now * 1_000)
        _ = stored.reuse(at: now * 1_000 + 1)
        return stored.knownFreshUntil
    }

    @Test(
        "Retry-After is read as seconds or as a date",
        arguments: [
            ("120", .seconds(120)), ("0", .zero), ("Mon, 01 Jan 2024 00:01:30 GMT", .seconds(90)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("-5", nil), ("soon", nil), ("", nil), ("1.5", nil),
        ] as [(String, Duration?)])
    func retryAfter(text: String, expected: Duration?) {
        #expect(ResponseRules.retryAfter([.retryAfter: text], now: Self.now) == expected)
    }

    @Test("without Retry-After there is none")
    func noRetryAfter() { #expect(ResponseRules.retryAfter([.date: "0"], now: Self.now) == nil) }

    @Test("no number a server can send is too much to count with")
    func extremes() async {
        // In a process of its own: what this guards against is a crash.
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
                _ = ResponseRules.retryAfter([.retryAfter: date], now: Self.now)
                _ = ResponseRules.retryAfter([.retryAfter: first], now: Self.now)
            }
        }
    }
}

@Suite struct VerdictTests {
    private func verdict(
        _ status: Int, _ body: [UInt8], type: String = "image/jpeg", redirectedTo: String? = nil
    ) -> Verdict {
        let response = TransferResponse(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]),
            body: ResponseBody(body),
            redirectedTo: redirectedTo, isHTTP2: false, microseconds: 1, microsecondsToFirstByte: 1)
        return Verdict(response, for: "http://a.example/1.jpg")
    }

    @Test("a part that nobody asked for is no cover (RFC 9110 §15.3.7)")
    func part() {
        let failure = failure(verdict(206, [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1]))
        #expect(failure?.status == 206 && failure?.detail.contains("a part of the cover, unasked") == true)
    }

    private func failure(_ verdict: Verdict) -> CoverFailure? {
        if case .failure(let failure) = verdict { failure } else { nil }
    }

    @Test("an image is a cover, whatever type the server claims", arguments: ["image/jpeg", "text/html", ""])
    func cover(type: String) {
        guard case .cover(let header) = verdict(200, CoverImage.png(number: 1), type: type) else {
            Issue.record("no cover")
            return
        }
        #expect(header.mediaType == "image/png")
        #expect((header.width ?? 0) > 0 && (header.height ?? 0) > 0)
    }

    @Test("a status other than 2xx is a failure with its number, even with an image", arguments: [304, 404, 503])
    func status(status: Int) {
        let failure = failure(verdict(status, CoverImage.png(number: 1)))
        #expect(failure?.kind == .status && failure?.status == status)
        #expect(failure?.url == "http://a.example/1.jpg")
        #expect(failure?.message.contains("\(status)") == true)
    }

    @Test(
        "a 200 that is no image says what it is",
        arguments: [
            ("<!DOCTYPE html><title>Welcome</title>", "HTML"), ("{\"error\": 1}", "JSON"), ("", "empty"),
            ("hello", "text"),
        ])
    func notAnImage(text: String, word: String) {
        let failure = failure(verdict(200, Array(text.utf8)))
        #expect(failure?.kind == .notAnImage)
        #expect(failure?.detail.contains(word) == true)
    }

    @Test("where a redirect led is told, for a status as for a page")
    func redirected() {
        for status in [404, 200] {
            let verdict = verdict(status, [], redirectedTo: "http://portal.example/")
            #expect(failure(verdict)?.detail.contains("http://portal.example/") == true)
        }
    }
}
