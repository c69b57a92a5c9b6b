import CoverCache

import HTTPTypes
import Testing

@testable import CoverLibrary
@testable import CurlHTTP

@Suite struct RelocationTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let month: Int64 = 30 * 86_400_000

    private func response(_ redirects: [(Int, HTTPFields)], to place: String? = "https://b.example/2.jpg")
        -> TransferResponse
    {
        TransferResponse(
            head: HTTPResponse(status: .ok), body: ResponseBody(), redirectedTo: place,
            redirects: redirects.map { HTTPResponse(status: .init(code: $0.0), headerFields: $0.1) }, isHTTP2: false,
            microseconds: 0, microsecondsToFirstByte: 0)
    }

    private func time(_ redirects: [(Int, HTTPFields)], to place: String? = "https://b.example/2.jpg") -> Int64? {
        Relocation(response(redirects, to: place), now: Self.now).map { $0.until - Self.now }
    }

    @Test("RFC 9110 §15.4.2, §15.4.9: only where every redirect is a 301 or a 308 has a cover moved for good")
    func permanence() {
        #expect(time([(301, [:])]) == Self.month)
        #expect(time([(308, [:]), (301, [:])]) == Self.month)
        for status in [300, 302, 303, 307] {
            #expect(time([(status, [:])]) == nil)
            #expect(time([(301, [:]), (status, [:])]) == nil)
        }
        #expect(time([]) == nil)
        #expect(time([], to: nil) == nil)
    }

    @Test("the first redirect to end ends it, and one that must not be kept is not")
    func lifetime() {
        let hour: HTTPFields = [.cacheControl: "max-age=3600"]
        #expect(time([(301, hour), (301, [.cacheControl: "max-age=60"])]) == 60_000)
        #expect(time([(301, [.cacheControl: "max-age=31536000"])]) == Self.month)
        #expect(time([(301, [.cacheControl: "no-store"])]) == nil)
        #expect(time([(301, [.cacheControl: "max-age=0"])]) == nil)
        #expect(time([(301, [.cacheControl: "no-cache"])]) == nil)
    }

    @Test("what is remembered is not asked where it leads from https to http, unless that is allowed")
    func downgrade() throws {
        func place(_ key: String, _ place: String, allows: Bool = false) throws -> String? {
            Relocation.place(
                of: try HTTPURL(key), Remembered(.moved, key, place, until: 0), allowsDowngrades: allows)?.string
        }
        #expect(try place("https://a.example/1", "http://b.example/2") == nil)
        #expect(try place("https://a.example/1", "http://b.example/2", allows: true) == "http://b.example/2")
        #expect(try place("http://a.example/1", "https://b.example/2") == "https://b.example/2")
        #expect(try place("http://a.example/1", "http://b.example/2") == "http://b.example/2")
        #expect(try place("http://a.example/1", "file:///etc/passwd") == nil)
        #expect(try place("http://a.example/1", "http://u:p@b.example/2") == nil)
    }
}
