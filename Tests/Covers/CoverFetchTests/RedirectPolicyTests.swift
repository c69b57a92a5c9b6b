import HTTPTypes
import Testing

@testable import CoverFetch
@testable import CurlHTTP

@Suite struct RedirectPolicyTests {
    private func decide(
        _ status: Int, from url: String = "https://a.example/1.jpg", at target: String? = nil, to location: String?,
        redirectCount: Int = 0, allowsDowngrades: Bool = false
    ) throws -> Result<HTTPURL, CoverFailure>? {
        let response = TransferResponse(
            head: HTTPResponse(status: .init(code: status)), location: location, microseconds: 1)
        return RedirectPolicy.decide(
            response, of: try HTTPURL(url), at: try HTTPURL(target ?? url), redirectCount: redirectCount,
            allowsDowngrades: allowsDowngrades)
    }

    @Test(arguments: [300, 301, 302, 303, 307, 308])
    func `RFC 9110 §15.4: redirects are followed`(status: Int) throws {
        let target = try HTTPURL("https://b.example/2.jpg")
        #expect(try decide(status, to: "https://b.example:443/2.jpg#top") == .success(target))
    }

    @Test func `other statuses and responses without a location are no redirects`() throws {
        for status in [200, 304, 305, 404] { #expect(try decide(status, to: "https://b.example/") == nil) }
        #expect(try decide(302, to: nil) == nil)
    }

    @Test func `at most ten redirects are followed, so that a loop ends`() throws {
        #expect(try decide(302, to: "https://a.example/1.jpg", redirectCount: 9)?.failed == nil)
        #expect(try decide(302, to: "https://a.example/1.jpg", redirectCount: 10)?.failed == .tooManyRedirects)
    }

    @Test func `a redirect to more than 8 KiB is refused with a short message`() throws {
        let location = "https://b.example/" + String(repeating: "?a=b", count: 6_000)
        guard case .failure(let failure) = try decide(302, to: location) else { return #expect(Bool(false)) }
        #expect(failure.kind == .refusedAddress && failure.message.utf8.count < 200, "\(failure.message)")
    }

    @Test func `what a failure keeps and shows of a server's text is short, and has no credentials`() throws {
        let long = String(repeating: "/x", count: 50_000)
        var failure = CoverFailure(
            .status, url: "https://a.example/1.jpg?token=hush" + long, detail: "found \(long)?key=hush")
        failure.detail += " (redirected to https://b.example/?sig=hush&a=\(long))"
        #expect(failure.detail.utf8.count < 600 && failure.message.utf8.count < 1_000)
        #expect(
            !failure.message.contains("hush") && failure.message.hasPrefix("https://a.example/1.jpg?token=[hidden]"))
    }

    @Test func `a redirect from https to http is refused unless downgrades are allowed`() throws {
        let plain = "http://b.example/2.jpg"
        #expect(try decide(301, to: plain)?.failed == .refusedAddress)
        #expect(try decide(301, to: plain, allowsDowngrades: true)?.failed == nil)
        #expect(try decide(301, from: "http://a.example/1.jpg", to: plain)?.failed == nil)
        // Also if only an earlier redirect led to https.
        let later = try decide(
            301, from: "http://a.example/1.jpg", at: "https://a.example/1.jpg", to: plain, redirectCount: 1)
        #expect(later?.failed == .refusedAddress)
    }

    @Test(arguments: [
        "ftp://b.example/", "file:///etc/passwd", "gopher://b.example/", "https://user:secret@b.example/",
    ])
    func `a redirect to a URL that is not http or https, or holds credentials, is refused`(location: String) throws {
        let failure = try #require(try decide(302, to: location)?.failure)
        #expect(failure.kind == .refusedAddress && !failure.message.contains("secret"))
    }
}

extension Result<HTTPURL, CoverFailure> {
    fileprivate var failure: CoverFailure? { if case .failure(let failure) = self { failure } else { nil } }
    fileprivate var failed: CoverFailure.Kind? { failure?.kind }
}
