import CurlHTTP
import HTTPTypes
import Testing

@testable import CoverLibrary

@Suite struct UnkeptPartsTests {
    private let key = "http://a.example/1?id=2"

    /// Whether a request has the parts of an entry with these lines.
    private func areIn(
        _ url: String, _ fields: HTTPFields = [:], configured: [String: HTTPFields] = [:], of lines: String
    ) throws -> Bool {
        let url = try HTTPURL(url, ignoring: ["token"])
        try #require(url.string == key)
        return UnkeptParts(lines).areIn(url, fields, configured: configured)
    }

    @Test func `what an entry says of its request has no values, and is read as it was written`() throws {
        let parts = UnkeptParts(
            omitsParameters: true,
            fieldNames: ["https://b.example": ["referer"], "http://a.example": ["x-key", "authorization"]])
        #expect(
            parts.annotations == """
                key omits: parameters
                requested with: http://a.example authorization x-key
                requested with: https://b.example referer

                """)
        #expect(UnkeptParts("etag: \"1\"\n" + parts.annotations) == parts && !parts.isEmpty)
        #expect(UnkeptParts("etag: \"1\"\ntried at: 1\n").isEmpty)
        #expect(EntryAnnotation.kept(parts.annotations + "tried at: 1\n") == parts.annotations)
    }

    @Test func `an entry whose key omits parameters is asked about with an address that has some`() throws {
        let line = EntryAnnotation.omittedParameters.line
        #expect(try areIn(key + "&token=a", of: line))
        #expect(try !areIn(key, of: line))
        #expect(try areIn(key, of: ""))
    }

    @Test func `an entry is asked about with fields of all names that were sent, to the origins that got them`() throws
    {
        let line = "requested with: http://a.example authorization referer\n"
        let (both, one): (HTTPFields, HTTPFields) = ([.authorization: "b", .referer: "c"], [.authorization: "b"])
        #expect(try areIn(key, both, of: line))
        #expect(try !areIn(key, one, of: line) && !areIn(key, of: line))
        #expect(try areIn(key, one, configured: ["http://a.example": [.referer: "c"]], of: line))
        #expect(try !areIn(key, one, configured: ["http://b.example": [.referer: "c"]], of: line))
        // A redirect led there. A request's own fields go to no other origin.
        let redirected = "requested with: http://b.example authorization\n"
        #expect(try !areIn(key, one, of: redirected))
        #expect(try areIn(key, configured: ["http://b.example": one], of: redirected))
        #expect(try !areIn(key, one, of: "requested with: \u{1}? authorization\n"))
    }
}
