import CurlHTTP
import HTTPTypes
import Testing

@testable import CoverFetch

@Suite struct RecentTargetsTests {
    private func response(_ cacheControl: String?, bytes: Int = 100) -> TransferResponse {
        var head = HTTPResponse(status: .ok)
        if let cacheControl { head.headerFields[.cacheControl] = cacheControl }
        return TransferResponse(head: head, body: Array(repeating: 0, count: bytes))
    }

    @Test func `a response is used until the lifetime that it states is over`() {
        var recent = RecentTargets()
        recent.add("a", response("max-age=60"), of: "key", at: 1_000_000)
        #expect(recent.response(of: "a", at: 1_059_000)?.time == 1_000_000)
        #expect(recent.response(of: "a", at: 1_061_000) == nil)
        #expect(recent.response(of: "b", at: 1_000_000) == nil)
    }

    @Test(arguments: [nil, "no-store, max-age=60", "no-cache, max-age=60", "max-age=0"])
    func `a response that must not be used again is not used`(cacheControl: String?) {
        var recent = RecentTargets()
        recent.add("a", response(cacheControl), of: "key", at: 1_000_000)
        #expect(recent.response(of: "a", at: 1_000_001) == nil)
    }

    @Test func `the last sixteen are kept, one that is used is kept longer, and a large one is not kept`() {
        var recent = RecentTargets()
        recent.add("large", response("max-age=60", bytes: 300_000), of: "key", at: 0)
        #expect(recent.response(of: "large", at: 1) == nil)
        recent.add("used", response("max-age=60"), of: "key", at: 0)
        recent.add("unused", response("max-age=60"), of: "key", at: 0)
        for number in 0..<15 {
            #expect(recent.response(of: "used", at: 1) != nil)
            recent.add("\(number)", response("max-age=60"), of: "key", at: 0)
        }
        #expect(recent.response(of: "used", at: 1) != nil && recent.response(of: "unused", at: 1) == nil)
    }
}
