import Platform
import Testing

@testable import CurlHTTP

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com:80/a", "http://example.com/a"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://example.com:8080/A/b", "http://example.com:8080/A/b"),
        ("http://example.com/a/../b/./c.jpg", "http://example.com/b/c.jpg"),
        ("http://example.com/a#part", "http://example.com/a"),
        ("http://example.com/a b.jpg", "http://example.com/a%20b.jpg"),
        ("http://example.com?Size=1", "http://example.com/?Size=1"),
        ("http://example.com/a?u=http://X/../y", "http://example.com/a?u=http://X/../y"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("http://127.0.0.1/a", "http://127.0.0.1/a"),
    ])
    func `a URL is normalised: scheme, host, port, dots, fragment and spaces`(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.string == expected)
        #expect("\(url)" == expected)
        #expect(try HTTPURL(expected).string == expected)
    }

    @Test func `more than 8 KiB are no URL, also if they become so many`() throws {
        func url(_ text: String, _ count: Int) -> String {
            "http://example.com/" + String(repeating: text, count: count)
        }
        let longest = HTTPURL.maximumLength - url("", 0).utf8.count
        #expect(try HTTPURL(url("a", longest)).string.utf8.count == HTTPURL.maximumLength)
        for long in [url("a", longest + 1), url("\u{E9}", longest / 3), url(" ", longest / 2), url("?a=b", 1 << 20)] {
            let problem = #expect(throws: HTTPURL.Problem.self) { _ = try HTTPURL(long) }
            #expect(problem == .tooLong && "\(problem!)".utf8.count < 60)
        }
        let scheme = #expect(throws: HTTPURL.Problem.self) {
            _ = try HTTPURL(String(repeating: "s", count: 8_000) + "://a/")
        }
        #expect("\(scheme!)".utf8.count < 100)
    }

    @Test func `a letter outside ASCII is one key whether written as it is or percent-encoded in either case`() throws {
        let written = try HTTPURL("http://example.com/caf\u{E9}.jpg").string
        #expect(written.utf8.allSatisfy { $0 < 0x80 })
        #expect(try HTTPURL("http://example.com/caf%c3%a9.jpg").string == written)
        #expect(try HTTPURL("http://example.com/caf%C3%A9.jpg").string == written)
    }

    @Test(
        arguments: [
            // Written, sent, key.
            ("/fit/http%3a%2f%2fb.example%2Fa.jpg", nil, "/fit/http%3A%2F%2Fb.example%2Fa.jpg"),
            ("/%7euser/%41.jpg", nil, "/~user/A.jpg"),
            ("/a/%2E%2e/b/./c/..", nil, "/b/"), ("/a/../../b", nil, "/b"), ("/a//../b/", nil, "/a/b/"),
            ("/a/...", nil, "/a/..."), ("/.", nil, "/"), ("/a/%2e", nil, "/a/"),
            ("/a.jpg?", nil, "/a.jpg?"), ("?", "/?", "/?"), ("/a?#b", "/a?", "/a?"), ("/a#b?c", "/a", "/a"),
            ("/a?s=a+b%20c&t=%2B%2bd", nil, "/a?s=a+b%20c&t=%2B%2Bd"),
            ("//double//slash.jpg", nil, "//double//slash.jpg"),
            ("/a'b(c)*!;d=1,e$&f:@/?g='?/:@", nil, "/a'b(c)*!;d=1,e$&f:@/?g='?/:@"),
            ("/A|B^`{c}\"<d>.jpg", "/A%7CB%5E%60%7Bc%7D%22%3Cd%3E.jpg", "/A%7CB%5E%60%7Bc%7D%22%3Cd%3E.jpg"),
            ("/a?t=Late Train [Remix]", "/a?t=Late%20Train%20%5BRemix%5D", "/a?t=Late%20Train%20%5BRemix%5D"),
            ("/100%.jpg", "/100%25.jpg", "/100%25.jpg"), ("/%zz%4", "/%25zz%254", "/%25zz%254"),
            ("/K\u{E4}se.jpg", "/K%C3%A4se.jpg", "/K%C3%A4se.jpg"),
            ("/AC\\DC.jpg?a\\b", "/AC/DC.jpg?a%5Cb", "/AC/DC.jpg?a%5Cb"), ("/AC%5cDC.jpg", nil, "/AC%5CDC.jpg"),
            ("\\a\\..\\b", "/a/../b", "/b"),
            ("/a?b=/../c&d=%2e", nil, "/a?b=/../c&d=."),
        ] as [(String, String?, String)])
    func `the request target is the one given, apart from what no URL may contain, and the key is normalised`(
        written: String, sent: String?, key: String
    ) throws {
        let url = try HTTPURL("HTTP://Covers.Example:80" + written)
        #expect(url.target == sent ?? written)
        #expect(url.requestURL == "http://covers.example" + (sent ?? written))
        #expect(url.string == "http://covers.example" + key)
        #expect(try HTTPURL(url.string).string == url.string)
        #expect(try HTTPURL(url.string).requestURL == url.string)
        #expect(try HTTPURL(url.requestURL) == url)
    }

    @Test func `a backslash is a slash before the query, so that what follows it is never taken for a host`() throws {
        #expect(try HTTPURL("http:\\\\a.example\\b").string == "http://a.example/b")
        #expect(try HTTPURL("http://a.example\\@b.example/").string == "http://a.example/@b.example/")
    }

    @Test(
        arguments: [
            ("https://b.example/%2f?x#y", "https://b.example/%2f?x#y"), ("//b.example/%7e", "http://b.example/%7e"),
            ("/c%2fd?u=http://b/", "http://a.example/c%2fd?u=http://b/"), ("/c/../d", "http://a.example/c/../d"),
            ("e.jpg?f=%2f", "http://a.example/x%2fy/e.jpg?f=%2f"), ("../e/./f.jpg", "http://a.example/e/f.jpg"),
            ("?f", "http://a.example/x%2fy/z.jpg?f"), ("", "http://a.example/x%2fy/z.jpg?q=%3a"),
            ("#top", "http://a.example/x%2fy/z.jpg?q=%3a"), ("e?u=../f", "http://a.example/x%2fy/e?u=../f"),
            ("data:image/png", "data:image/png"), ("e:f/g", "e:f/g"), ("./e:f", "http://a.example/x%2fy/e:f"),
            ("\\\\b.example/c", "http:\\\\b.example/c"), ("\\c", "http://a.example\\c"),
        ])
    func `a reference is resolved and otherwise stays as written (RFC 3986 section 5.2)`(
        reference: String, expected: String
    ) throws {
        let url = try HTTPURL("http://a.example/x%2fy/z.jpg?q=%3a")
        #expect(url.resolving(reference) == expected)
    }

    @Test(arguments: [
        ("http://m\u{FC}ller.example/\u{FC}.jpg", "http://xn--mller-kva.example/%C3%BC.jpg"),
        ("http://M\u{DC}LLER.Example:80/", "http://xn--mller-kva.example/"),
        ("https://mu\u{308}ller.example:8443?x", "https://xn--mller-kva.example:8443/?x"),
        ("http://m%C3%BCller.example/", "http://xn--mller-kva.example/"),
        ("http://fa\u{DF}.example/", "http://xn--fa-hia.example/"),
        ("http://\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://\u{FF11}27.0.0.1/", "http://127.0.0.1/"),
    ])
    func `an international host name is in its ASCII form, however it is written and whatever the locale (RFC 5891)`(
        text: String, expected: String
    ) throws {
        let locale = newlocale(LC_CTYPE_MASK, "C", nil)
        let previous = uselocale(locale)
        let url = try HTTPURL(text)
        // The locale of the calling thread stays.
        #expect(uselocale(previous) == locale)
        freelocale(locale)
        #expect(url.string == expected)
        #expect(try HTTPURL(expected) == url)
        #expect(url.string.hasPrefix(url.origin + "/"))
    }

    @Test(arguments: [
        ("http://Example.com/a/b", "http://example.com"),
        ("https://example.com:8443?x", "https://example.com:8443"),
        ("http://[::1]:80/a", "http://[::1]"), ("http://example.com", "http://example.com"),
    ])
    func `the origin is scheme, host and port`(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.origin == expected)
        #expect(url.isHTTPS == expected.hasPrefix("https"))
    }

    @Test(arguments: [
        ("http://127.0.0.1:80/", true), ("http://[::1]/", true), ("https://10.0.0.1:8443/x", true),
        ("http://localhost/", false), ("http://1.example/", false), ("http://a127.0.0.1/", false),
    ])
    func `a numeric host is known from a name`(text: String, expected: Bool) throws {
        #expect(try HTTPURL(text).hostIsAddress == expected)
    }

    @Test(
        arguments: [
            ("", .empty), ("covers/1.jpg", .noScheme), ("example.com/1.jpg", .noScheme), ("/1.jpg", .noScheme),
            ("ftp://example.com/1.jpg", .scheme("ftp")), ("FILE:///etc/passwd", .scheme("file")),
            ("gopher://example.com/", .scheme("gopher")),
            ("http://user:secret@example.com/", .credentials), ("http://user@example.com/", .credentials),
            ("ftp://user:secret@example.com/", .credentials),
        ] as [(String, HTTPURL.Problem)])
    func `a text that is no URL to fetch is refused with what is wrong with it`(text: String, expected: HTTPURL.Problem)
    {
        #expect(throws: expected) { try HTTPURL(text) }
    }

    @Test(arguments: [
        "http://", "http://example.com:99999/", "http://example.com:x/", "http://exa mple.com/",
        "http://[::1/", "http://example.com/a\nb", "http://example.com/a\u{0}b", "http://-\u{FC}.example/",
        "http://\u{FC}\u{FF0F}x/", "http://%FF.example/",
        "http:///x", "http://example.com/\u{FFFD}.jpg",
    ])
    func `a text that cannot be read as a URL is malformed, and the message says why`(text: String) {
        let problem = #expect(throws: HTTPURL.Problem.self) { try HTTPURL(text) }
        guard case .malformed(let why) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(!why.isEmpty)
    }

    @Test(arguments: [
        "http://user:secret@example.com/", "user:secret@example.com/", "//user:secret@example.com/", "secret",
        "http://user:secret@", "http://user:secret@example.com:99999/", "http://user:secret@exa mple.com/",
        "ftp://user:secret@example.com/", "http:/user:secret@", "http://user:secret@[::1/", "http://:secret@x/",
    ])
    func `no problem ever repeats a password, wherever it stands`(text: String) {
        let problem = #expect(throws: HTTPURL.Problem.self) { try HTTPURL(text) }
        #expect(problem.map { !"\($0)".contains("secret") } ?? false)
        #expect(problem.map { !"\($0)".contains("\n") } ?? false)
    }

    @Test(arguments: [
        ("/rest/getCoverArt?u=me&t=abc&s=123&v=1.16.1&c=app&id=al-1&size=600", "/rest/getCoverArt?id=al-1&size=600"),
        ("/rest/getCoverArt.view?size=600&id=al-1&p=enc:68&f=json", "/rest/getCoverArt.view?id=al-1&size=600"),
        ("/music/rest/getCoverArt?apiKey=x&id=a%2Fb", "/music/rest/getCoverArt?id=a%2Fb"),
        ("/rest/getCoverArt?u=me&p=x", "/rest/getCoverArt"), ("/rest/getCoverArt", "/rest/getCoverArt"),
        ("/x/../rest/getCoverArt?id=1&t=2", "/rest/getCoverArt?id=1"),
        // Other calls and other sites.
        ("/rest/getAvatar?u=me&t=abc&s=123", "/rest/getAvatar?u=me&t=abc&s=123"),
        ("/getCoverArt?id=1&t=2", "/getCoverArt?id=1&t=2"),
        ("/rest/getCoverArts?id=1&t=2", "/rest/getCoverArts?id=1&t=2"),
        ("/a?x=/rest/getCoverArt&t=2", "/a?x=/rest/getCoverArt&t=2"),
    ])
    func `the key of a Subsonic server's cover has no part of the client, and its request has all`(
        target: String, key: String
    ) throws {
        let url = try HTTPURL("https://music.example" + target)
        #expect(url.string == "https://music.example" + key)
        #expect(url.requestURL.hasSuffix(target))
        #expect(try HTTPURL(url.string).string == url.string)
    }
}
