import Testing

@testable import LinkEmulator

@Suite
struct CongestionWindowTests {
    private static let segment = CongestionWindow.segment

    /// Acknowledges a whole window, as one round trip does.
    private func roundTrip(_ window: inout CongestionWindow, _ offset: inout Int) {
        for _ in 0..<(window.bytes / Self.segment) {
            window.didAcknowledge(Self.segment, at: offset)
            offset += Self.segment
        }
    }

    @Test func `it starts with ten segments and doubles every round trip, up to the receive window`() {
        var (window, offset) = (CongestionWindow(), 0)
        #expect(window.bytes == 14_600)
        for expected in [29_200, 58_400, 116_800] {
            roundTrip(&window, &offset)
            #expect(window.bytes == expected)
        }
        for _ in 0..<10 { roundTrip(&window, &offset) }
        #expect(window.bytes == CongestionWindow.maximum)
    }

    @Test func `a loss halves it once for all segments in flight, and then it grows by a segment a round trip`() {
        var (window, offset) = (CongestionWindow(), 0)
        for _ in 0..<3 { roundTrip(&window, &offset) }
        let end = offset + 80 * Self.segment
        window.didLose(at: offset, inFlight: 80 * Self.segment, end: end)
        #expect(window.bytes == 40 * Self.segment)
        window.didLose(at: offset + Self.segment, inFlight: 79 * Self.segment, end: end + Self.segment)
        window.didAcknowledge(Self.segment, at: offset + 2 * Self.segment)
        #expect(window.bytes == 40 * Self.segment)
        offset = end
        for expected in 41...43 {
            roundTrip(&window, &offset)
            #expect(abs(window.bytes - expected * Self.segment) < Self.segment / 5)
        }
        window.didLose(at: offset, inFlight: Self.segment, end: offset)
        #expect(window.bytes == 2 * Self.segment)
    }
}
