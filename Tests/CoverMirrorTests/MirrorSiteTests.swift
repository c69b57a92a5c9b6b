import CoverLibrary
import HTTPTypes
import Testing

@testable import CoverMirror

@Suite struct MirrorSiteTests {
    @Test(
        arguments: [
            ("/b", "http://h/b"), ("b", "http://h/a/b"), ("?q", "http://h/a/x?q"), ("../c", "http://h/c"),
            ("http://h/d", "http://h/d"), ("//h/e", "http://h/e"), ("", "http://h/a/x?y"),
            ("http://other/f", nil), ("//other/g", nil),
        ] as [(String, String?)])
    func `RFC 3986 §5.2: Location is resolved against the response's URL; URLs of other origins are left out`(
        reference: String, expected: String?
    ) throws {
        let site = try MirrorSite("http://h/")
        let url = try #require(site.url("/a/x?y"))
        #expect(site.locations(in: [.location: reference], of: url) == (expected.map { [$0] } ?? []))
    }

    @Test func `the site is an http or https URL without a query; errors do not repeat its credentials`() throws {
        #expect(try MirrorSite("HTTPS://Example.org:443/covers/").base == "https://example.org/covers")
        for text in ["example.org", "ftp://example.org", "http://example.org/?a", ""] {
            #expect(throws: LibraryError.self) { try MirrorSite(text) }
        }
        #expect { try MirrorSite("http://me:secret@example.org") } throws: { !"\($0)".contains("secret") }
    }

    @Test func `dot segments, encoded or not, do not lead out of the site`() throws {
        let site = try MirrorSite("http://h/covers")
        #expect(site.url("/a/../1.jpg").map { "\($0)" } == "http://h/covers/1.jpg")
        for target in ["/../x", "/%2e%2e/x", "/.%2E/x", "x", "*", "http://h/covers/x"] {
            #expect(site.url(target) == nil, "\(target)")
        }
    }
}
