import Testing

@testable import CurlHTTP

@Suite struct ConnectTimeoutTests {
    private func timeout(afterLookUpOf elapsed: Duration) -> Duration {
        var timeout = ConnectTimeout(HTTPClientConfiguration(userAgent: ""))
        let start = ContinuousClock.now
        timeout.beginLookUp(at: start)
        #expect(timeout.current == .seconds(30))
        timeout.endLookUp(at: start + elapsed)
        let ended = timeout.current
        timeout.endLookUp(at: start + elapsed + .seconds(9))
        #expect(timeout.current == ended, "a second address is not looked up")
        timeout.reset()
        #expect(timeout.current == .seconds(15))
        return ended
    }

    @Test func `a look-up of more than half of the time is not counted, and a quick one is`() {
        #expect(timeout(afterLookUpOf: .seconds(7)) == .seconds(15))
        #expect(timeout(afterLookUpOf: .seconds(8)) == .seconds(23))
        #expect(timeout(afterLookUpOf: .seconds(20)) == .seconds(35))
    }
}
