import Testing

@testable import CurlHTTP

@Suite struct HTTPURLTests {
    @Test(
        "a URL is normalised: scheme, host, port, dots, fragment and spaces",
        arguments: [
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
    func normalising(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.string == expected)
        #expect("\(url)" == expected)
        #expect(try HTTPURL(expected).string == expected)
    }

    @Test("a letter outside ASCII is one key whether written as it is or percent-encoded in either case")
    func percentEncoding() throws {
        let written = try HTTPURL("http://example.com/caf\u{E9}.jpg").string
        #expect(written.utf8.allSatisfy { $0 < 0x80 })
        #expect(try HTTPURL("http://example.com/caf%c3%a9.jpg").string == written)
        #expect(try HTTPURL("http://example.com/caf%C3%A9.jpg").string == written)
    }

    @Test(
        "an international host name is in its ASCII form, however it is written and whatever the locale (RFC 5891)",
        arguments: [
            ("http://m\u{FC}ller.example/\u{FC}.jpg", "http://xn--mller-kva.example/%C3%BC.jpg"),
            ("http://M\u{DC}LLER.Example:80/", "http://xn--mller-kva.example/"),
            ("https://mu\u{308}ller.example:8443?x", "https://xn--mller-kva.example:8443/?x"),
            ("http://m%C3%BCller.example/", "http://xn--mller-kva.example/"),
            ("http://fa\u{DF}.example/", "http://xn--fa-hia.example/"),
            ("http://\u{4F8B}\u{3048}\u{3002}\u{30C6}\u{30B9}\u{30C8}/", "http://xn--r8jz45g.xn--zckzah/"),
            ("http://\u{FF11}27.0.0.1/", "http://127.0.0.1/"),
        ])
    func international(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.string == expected)
        #expect(try HTTPURL(expected) == url)
        #expect(url.string.hasPrefix(url.origin + "/"))
    }

    @Test(
        "the origin is scheme, host and port",
        arguments: [
            ("http://Example.com/a/b", "http://example.com"),
            ("https://example.com:8443?x", "https://example.com:8443"),
            ("http://[::1]:80/a", "http://[::1]"), ("http://example.com", "http://example.com"),
        ])
    func origin(text: String, expected: String) throws {
        let url = try HTTPURL(text)
        #expect(url.origin == expected)
        #expect(url.isHTTPS == expected.hasPrefix("https"))
    }

    @Test(
        "a numeric host is known from a name",
        arguments: [
            ("http://127.0.0.1:80/", true), ("http://[::1]/", true), ("https://10.0.0.1:8443/x", true),
            ("http://localhost/", false), ("http://1.example/", false), ("http://a127.0.0.1/", false),
        ])
    func numericHost(text: String, expected: Bool) throws { #expect(try HTTPURL(text).hostIsAddress == expected) }

    @Test(
        "a text that is no URL to fetch is refused with what is wrong with it",
        arguments: [
            ("", .empty), ("covers/1.jpg", .noScheme), ("example.com/1.jpg", .noScheme), ("/1.jpg", .noScheme),
            ("ftp://example.com/1.jpg", .scheme("ftp")), ("FILE:///etc/passwd", .scheme("file")),
            ("gopher://example.com/", .scheme("gopher")),
            ("http://user:secret@example.com/", .credentials), ("http://user@example.com/", .credentials),
            ("ftp://user:secret@example.com/", .credentials),
        ] as [(String, HTTPURL.Problem)])
    func problems(text: String, expected: HTTPURL.Problem) {
        #expect(throws: expected) { try HTTPURL(text) }
    }

    @Test(
        "a text that cannot be read as a URL is malformed, and the message says why",
        arguments: [
            "http://", "http://example.com:99999/", "http://example.com:x/", "http://exa mple.com/",
            "http://[::1/", "http://example.com/a\nb", "http://example.com/a\u{0}b", "http://-\u{FC}.example/",
            "http://\u{FC}\u{FF0F}x/", "http://%FF.example/",
            "http:///x", "http://example.com/\u{FFFD}.jpg",
        ])
    func malformed(text: String) {
        let problem = #expect(throws: HTTPURL.Problem.self) { try HTTPURL(text) }
        guard case .malformed(let why) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(!why.isEmpty)
    }

    @Test(
        "no problem ever repeats a password, wherever it stands",
        arguments: [
            "http://user:secret@example.com/", "user:secret@example.com/", "//user:secret@example.com/", "secret",
            "http://user:secret@", "http://user:secret@example.com:99999/", "http://user:secret@exa mple.com/",
            "ftp://user:secret@example.com/", "http:/user:secret@", "http://user:secret@[::1/", "http://:secret@x/",
        ])
    func noCredentials(text: String) {
        let problem = #expect(throws: HTTPURL.Problem.self) { try HTTPURL(text) }
        #expect(problem.map { !"\($0)".contains("secret") } ?? false)
        #expect(problem.map { !"\($0)".contains("\n") } ?? false)
    }
}
