import HTTPTypes
import Testing

@testable import CoverLibrary
@testable import CurlHTTP

@Suite struct RedirectPolicyTests {
    private func decide(
        _ status: Int, from url: String = "https://a.example/1.jpg", at asked: String? = nil, to place: String?,
        after steps: Int = 0,
        _ policy: RedirectPolicy = RedirectPolicy()
    ) throws -> Result<HTTPURL, CoverFailure>? {
        let response = TransferResponse(
            head: HTTPResponse(status: .init(code: status)), body: ResponseBody(), location: place, isHTTP2: false,
            microseconds: 1, microsecondsToFirstByte: 1)
        return policy.decide(response, of: try HTTPURL(url), at: try HTTPURL(asked ?? url), after: steps)
    }

    @Test("RFC 9110 §15.4: what redirects leads on", arguments: [300, 301, 302, 303, 307, 308])
    func redirects(status: Int) throws {
        let place = try HTTPURL("https://b.example/2.jpg")
        #expect(try decide(status, to: "https://b.example:443/2.jpg#top") == .success(place))
    }

    @Test("what does not redirect, or does not say where to, leads nowhere")
    func others() throws {
        for status in [200, 304, 305, 404] { #expect(try decide(status, to: "https://b.example/") == nil) }
        #expect(try decide(302, to: nil) == nil)
    }

    @Test("five steps are taken and no more, so that a loop ends")
    func steps() throws {
        #expect(try decide(302, to: "https://a.example/1.jpg", after: 4)?.failed == nil)
        #expect(try decide(302, to: "https://a.example/1.jpg", after: 5)?.failed == .tooManyRedirects)
    }

    @Test("from https to http only where that is allowed, and between others always")
    func downgrade() throws {
        let plain = "http://b.example/2.jpg"
        #expect(try decide(301, to: plain)?.failed == .refusedAddress)
        #expect(try decide(301, to: plain, RedirectPolicy(allowsDowngrades: true))?.failed == nil)
        #expect(try decide(301, from: "http://a.example/1.jpg", to: plain)?.failed == nil)
        // Nor anywhere on the way.
        let way = try decide(301, from: "http://a.example/1.jpg", at: "https://a.example/1.jpg", to: plain, after: 1)
        #expect(way?.failed == .refusedAddress)
    }

    @Test(
        "to what is neither http nor https, or holds credentials, nothing leads",
        arguments: [
            "ftp://b.example/", "file:///etc/passwd", "gopher://b.example/", "https://user:secret@b.example/",
        ])
    func refused(place: String) throws {
        let failure = try #require(try decide(302, to: place)?.failure)
        #expect(failure.kind == .refusedAddress && !failure.message.contains("secret"))
    }
}

extension Result<HTTPURL, CoverFailure> {
    fileprivate var failure: CoverFailure? { if case .failure(let failure) = self { failure } else { nil } }
    fileprivate var failed: CoverFailure.Kind? { failure?.kind }
}
