import HTTPTypes
import Testing

@testable import CoverMirror
@testable import HTTPCaching

@Suite struct MirrorRequestTests {
    private func request(
        _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, body: [UInt8]? = nil
    ) -> MirrorRequest {
        MirrorRequest(method: method, target: "/", fields: fields, body: body)
    }

    @Test func `RFC 9111 §5.4: Pragma: no-cache counts without Cache-Control only`() {
        #expect(request([.pragma: "no-cache"]).directives.noCache)
        #expect(!request([.pragma: "no-cache", .cacheControl: "max-stale"]).directives.noCache)
        #expect(!request([.pragma: "foo"]).directives.noCache)
    }

    @Test func `a cached response answers GET and HEAD without a body or a precondition on the origin's state`() {
        #expect(request().isCacheable && request(method: .head).isCacheable && request(body: []).isCacheable)
        #expect(!request(method: .post).isCacheable && !request(body: [1]).isCacheable)
        #expect(!request([.ifMatch: "*"]).isCacheable)
        #expect(!request([.ifUnmodifiedSince: "Mon, 01 Jan 2024 00:00:00 GMT"]).isCacheable)
    }
}
