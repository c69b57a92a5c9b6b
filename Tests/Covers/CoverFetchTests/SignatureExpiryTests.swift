import HTTPTypes
import Testing

@testable import CoverFetch
@testable import CurlHTTP

@Suite struct SignatureExpiryTests {
    @Test(
        arguments: [
            // CloudFront, Google's version 2, Alibaba, and servers with a link module.
            ("Expires=1700000000&Signature=a&Key-Pair-Id=b", 1_700_000_000),
            ("md5=a&expires=1700000000000", 1_700_000_000),
            // Amazon's version 4, and Google's.
            ("X-Amz-Date=20231114T221320Z&X-Amz-Expires=3600&X-Amz-Signature=a", 1_700_003_600),
            ("X-Goog-Expires=60&X-Goog-Date=20231114T221320Z", 1_700_000_060),
            // Azure.
            ("sv=2020-08-04&se=2023-11-14T22%3A13%3A20Z&sr=b&sig=a", 1_700_000_000), ("se=2023-11-14", 1_699_920_000),
            // Discord, Facebook.
            ("ex=6553f100&is=65529f80&hm=a", 1_700_000_000), ("oh=a&oe=6553F100&_nc_sid=b", 1_700_000_000),
            // Akamai.
            ("hdnts=exp=1700000000~acl=/*~hmac=a", 1_700_000_000),
            ("", nil), ("expires=never", nil), ("expires=3600", nil), ("ex=12", nil), ("se=soon", nil),
            ("X-Amz-Date=20231114T221320Z", nil), ("X-Amz-Expires=3600", nil), ("e=-170000000", nil),
            ("se=2023-13-14T22:13:20Z", nil), ("X-Amz-Date=20231114T221320Z&X-Amz-Expires=99999999999999", nil),
        ] as [(String, Int64?)])
    func `a query says when its signature expires`(query: String, end: Int64?) throws {
        #expect(try HTTPURL("https://a.example/1.jpg?" + query).signatureEnd == end)
    }

    @Test func `a path says nothing of that`() throws {
        #expect(try HTTPURL("https://a.example/expires=1700000000").signatureEnd == nil)
    }

    @Test(arguments: [400, 401, 403, 404, 429])
    func `a refusal of a URL whose time is over, or that says so, is about its signature`(status: Int) throws {
        func isExpired(_ query: String, _ text: String) throws -> Bool {
            var response = TransferResponse(head: HTTPResponse(status: .init(code: status)))
            response.refusal = Array(text.utf8)
            let url = try HTTPURL("https://a.example/1.jpg?" + query)
            let failure = ResponseDisposition(
                response, of: url, at: url, redirectCount: 0, revalidated: nil
            ).failure
            return try #require(failure).hasExpiredSignature
        }
        let mayBe = [400, 401, 403].contains(status)
        #expect(try isExpired("Expires=1700000000", "") == mayBe)
        #expect(try isExpired("", "<Error><Code>ExpiredToken</Code></Error>") == mayBe)
        #expect(try isExpired("", "Signature not valid in the specified time frame: Start [") == mayBe)
        #expect(try !isExpired("", "Forbidden"))
        #expect(try !isExpired("Expires=9999999999", "Access denied"))
    }
}
