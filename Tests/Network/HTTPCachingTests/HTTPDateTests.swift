import Testing

@testable import HTTPCaching

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `the three formats of RFC 9110's example are the same time`(text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Sat, 29 Feb 2020 12:00:00 GMT", 1_582_977_600),
            ("Sun, 01 Mar 2020 00:00:00 GMT", 1_583_020_800), ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Friday, 01-Jan-27 00:00:00 GMT", 1_798_761_600),
        ] as [(String, Int64)])
    func `leap days and centuries are counted`(text: String, expected: Int64) {
        #expect(HTTPDate.seconds(text) == expected)
    }

    @Test func `names match in any case, and a two-digit year is at most fifty years ahead`() {
        #expect(HTTPDate.seconds("SUN, 06 nov 1994 08:49:37 gmt") == 784_111_777)
        let now: Int64 = 1_704_067_200  // 2024
        #expect(HTTPDate.seconds("Wednesday, 01-Jan-74 00:00:00 GMT", now: now) == 3_281_990_400)
        #expect(HTTPDate.seconds("Wednesday, 01-Jan-75 00:00:00 GMT", now: now) == 157_766_400)
    }

    @Test(arguments: [0, 784_111_777, 951_782_400, 1_709_164_800, 4_107_542_400, -1] as [Int64])
    func `a formatted time parses to itself`(moment: Int64) {
        #expect(HTTPDate.seconds(HTTPDate.text(moment)) == moment)
    }

    @Test(arguments: [
        "", "0", "-1", "tomorrow", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994", "Sun, 06 Nov year 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun Nov 6 08:49:37 1994",
    ])
    func `a date in no format is rejected`(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}
