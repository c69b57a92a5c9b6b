import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite struct PermanentRedirectTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let month: Int64 = 30 * 86_400_000

    private func time(_ redirects: [(Int, HTTPFields)]) -> Int64? {
        let chain = redirects.map { HTTPResponse(status: .init(code: $0.0), headerFields: $0.1) }
        return PermanentRedirect.freshUntil(chain, now: Self.now).map { $0 - Self.now }
    }

    @Test func `RFC 9110 §15.4.2, §15.4.9: a chain is permanent only if every redirect is a 301 or a 308`() {
        #expect(time([(301, [:])]) == Self.month)
        #expect(time([(308, [:]), (301, [:])]) == Self.month)
        for status in [300, 302, 303, 307] {
            #expect(time([(status, [:])]) == nil)
            #expect(time([(301, [:]), (status, [:])]) == nil)
        }
        #expect(time([]) == nil)
    }

    @Test func `the redirect that expires first limits the chain, and one that must not be cached forbids it`() {
        let hour: HTTPFields = [.cacheControl: "max-age=3600"]
        #expect(time([(301, hour), (301, [.cacheControl: "max-age=60"])]) == 60_000)
        #expect(time([(301, [.cacheControl: "max-age=31536000"])]) == Self.month)
        #expect(time([(301, [.cacheControl: "no-store"])]) == nil)
        #expect(time([(301, [.cacheControl: "max-age=0"])]) == nil)
        #expect(time([(301, [.cacheControl: "no-cache"])]) == nil)
    }
}
