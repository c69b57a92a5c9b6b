import CoverCache
import CoverFetch
import CurlHTTP
import Testing

@testable import CoverLibrary

/// The URL that a refresh requests for an entry.
@Suite struct RequestURLTests {
    private func requested(_ key: String, _ fields: String) throws(CoverFailure) -> String {
        try EntryMetadata(key: key, mediaType: "image/png", storedAt: 0, fields: fields).url().requestURL
    }

    @Test(
        arguments: [
            ("", "http://a.example/~b%2Fc"), ("etag: \"x\"\n", "http://a.example/~b%2Fc"),
            ("etag: \"x\"\nrequest URL: http://a.example/%7eb%2fc\ntried at: 1\n", "http://a.example/%7eb%2fc"),
            // Those of another entry or of none.
            ("request URL: http://b.example/%7eb%2fc\n", "http://a.example/~b%2Fc"),
            ("request URL: http://a.example/%7eb%2fcd\n", "http://a.example/~b%2Fc"),
            ("request URL: http://u:p@a.example/%7eb%2fc\n", "http://a.example/~b%2Fc"),
        ])
    func `an entry is requested at the URL it was requested at, if that is a way to write its key`(
        fields: String, expected: String
    ) throws {
        #expect(try requested("http://a.example/~b%2Fc", fields) == expected)
    }

    @Test func `packs keep whose validators an entry has, what its redirects say, and what its request had`() {
        let fields = """
            etag: "x"
            validators of: 1f
            redirected with: must-revalidate
            key omits: parameters
            requested with: http://a.example authorization referer

            """
        let metadata = EntryMetadata(
            key: "http://a.example/1", mediaType: "image/png", storedAt: 0, fields: fields + "set-cookie: a=1\n")
        #expect(metadata.imported.fields == fields)
    }
}
