import Testing

@testable import CoverGallery

@Suite(.timeLimit(.minutes(10))) struct EventBufferTests {
    @Test func `the buffer of a page that does not read holds one event per key`() {
        let events = EventBuffer()
        for number in 0..<100_000 { events.post("prefetch", "\(number)") }
        for number in 0..<1_000 { events.post("cover", key: "cover \(number % 10)", "\(number)") }
        #expect(events.unsentCount == 11)
    }

    @Test func `unsent events are sent in order, the newest of each key, and the sequence ends after close`() async {
        let events = EventBuffer()
        events.post("prefetch", "1")
        events.post("cover", key: "cover a", "2")
        events.post("prefetch", "3")
        events.close()
        events.post("cache", "4")
        var batches: [String] = []
        for await batch in events.batches { batches.append(batch) }
        #expect(batches == ["event: prefetch\ndata: 3\n\nevent: cover\ndata: 2\n\n"])
    }

    @Test func `an event that is posted while the page waits is sent immediately`() async {
        let events = EventBuffer()
        async let first = events.batches.first { _ in true }
        events.postHeartbeat()
        #expect(await first == ": \n\n")
    }
}
