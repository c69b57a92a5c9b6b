import CoverCache
import HTTPTypes
import Testing

@testable import CoverLibrary
@testable import CurlHTTP

@Suite struct RelocationTests {
    private static let now: Int64 = 1_700_000_000_000

    @Test(
        "a response that permanent redirects led to gives the target; one without a target, or a temporary redirect, none"
    )
    func target() {
        func relocation(_ status: Int, to target: String?) -> Relocation? {
            let response = TransferResponse(
                head: HTTPResponse(status: .ok), redirectedTo: target,
                redirects: [HTTPResponse(status: .init(code: status))], isHTTP2: false, microseconds: 0,
                microsecondsToFirstByte: 0)
            return Relocation(response, now: Self.now)
        }
        #expect(relocation(301, to: "https://b.example/2.jpg")?.url.string == "https://b.example/2.jpg")
        #expect(relocation(301, to: nil) == nil)
        #expect(relocation(302, to: "https://b.example/2.jpg") == nil)
    }

    @Test("a cached redirect from https to http is not followed, unless that is allowed")
    func downgrade() throws {
        func target(_ key: String, _ target: String, allows: Bool = false) throws -> String? {
            Relocation.target(
                of: try HTTPURL(key), Remembered(.moved, key, target, until: 0), allowsDowngrades: allows)?.string
        }
        #expect(try target("https://a.example/1", "http://b.example/2") == nil)
        #expect(try target("https://a.example/1", "http://b.example/2", allows: true) == "http://b.example/2")
        #expect(try target("http://a.example/1", "https://b.example/2") == "https://b.example/2")
        #expect(try target("http://a.example/1", "http://b.example/2") == "http://b.example/2")
        #expect(try target("http://a.example/1", "file:///etc/passwd") == nil)
        #expect(try target("http://a.example/1", "http://u:p@b.example/2") == nil)
    }
}
