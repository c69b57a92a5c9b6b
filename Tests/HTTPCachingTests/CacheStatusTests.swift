import Testing

@testable import HTTPCaching

@Suite struct CacheStatusTests {
    @Test func `RFC 9211 §2: Cache-Status is a structured field`() {
        #expect(CacheStatus.hit.text == "sleeve; hit")
        #expect(CacheStatus.forwarded(.uriMiss).text == "sleeve; fwd=uri-miss")
        #expect(CacheStatus.generated("offline").text == "sleeve; detail=offline")
        let all = CacheStatus(
            forwarding: .stale, forwardStatus: 304, isStored: true, isCollapsed: true, timeToLive: -5, detail: "x")
        #expect(all.text == "sleeve; fwd=stale; fwd-status=304; ttl=-5; stored; collapsed; detail=x")
    }
}
