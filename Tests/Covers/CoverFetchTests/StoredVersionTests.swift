import HTTPTypes
import Platform
import Testing

@testable import CoverFetch
@testable import CurlHTTP

@Suite struct StoredVersionTests {
    /// Who gave the validators, which URL is requested, and whether it gets them. The cover's own URL is `http://a.example/1`.
    @Test(arguments: [
        // The own URL gave them.
        ("http://a.example/1", "http://a.example/1", true), ("http://a.example/1", "http://A.example:80/%31#x", true),
        ("http://a.example/1", "http://a.example/1?", false), ("http://a.example/1", "http://a.example/2", false),
        // A redirect leads elsewhere by now, even if only to another host.
        ("http://a.example/1", "https://a.example/1", false), ("http://a.example/1", "http://b.example/1", false),
        // The target of a redirect gave them.
        ("http://b.example/x?s=1", "http://b.example/x?s=1", true),
        ("http://b.example/x?s=1", "http://a.example/1", false),
        ("http://b.example/x?s=1", "http://b.example/x?s=2", false),
        ("http://b.example/x?s=1", "http://b.example/x", false), ("http://b.example/x", "http://b.example/X", false),
        ("http://b.example/x", "http://b.example/x/", false), ("http://b.example/~x", "http://b.example/%7ex", true),
        // The same file on another node, or over TLS.
        ("http://ia800.b.example/x?s=1", "http://ia900.b.example/x?s=1", true),
        ("http://ia800.b.example/x?s=1", "http://ia900.b.example/y?s=1", false),
        ("http://b.example/x", "https://b.example/x", true), ("http://b.example/x", "http://b.example:8080/x", true),
        // A redirect to the own path on another host gave them: the own URL itself did not.
        ("http://b.example/1", "http://a.example/1", false), ("http://b.example/1", "http://c.example/1", true),
    ])
    func `RFC 9111 §4.3.1: validators are sent to the URL that gave them, or to its place on another host of a chain`(
        source: String, target: String, isSent: Bool
    ) throws {
        let (url, source) = (try HTTPURL("http://a.example/1"), try HTTPURL(source))
        let version = StoredVersion(
            conditions: [.ifNoneMatch: "\"1\""], place: source == url ? nil : source.place, digest: Digest(of: []),
            validatedAt: 0)
        #expect(version.conditions(at: try HTTPURL(target), of: url).isEmpty == !isSent)
    }
}
