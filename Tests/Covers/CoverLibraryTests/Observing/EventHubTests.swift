import CoverFetch
import Foundation
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct EventHubTests {
    private func event(_ number: Int) -> LibraryEvent {
        var outcome = CoverOutcome(.downloaded, url: "\(number)")
        outcome.bytes = number
        return .arrived(outcome)
    }

    /// The events that an observer received: their numbers, and how many it missed.
    private struct Received: Equatable {
        var numbers: [Int] = []
        var missed = 0

        mutating func take(_ event: LibraryEvent) {
            switch event {
            case .arrived(let cover): numbers.append(cover.bytes)
            case .missed(let count): missed += count
            case .failed, .albumsChanged, .removed: Issue.record("no such event was published")
            }
        }
    }

    private func allEvents(_ stream: AsyncStream<LibraryEvent>) async -> Received {
        var received = Received()
        for await event in stream { received.take(event) }
        return received
    }

    @Test func `every observer receives the events after its subscription in order, until the hub closes`() async {
        let hub = EventHub()
        let first = hub.events(limit: 100)
        hub.publish(event(1))
        let second = hub.events(limit: 100)
        for number in 2...50 { hub.publish(event(number)) }
        hub.close()
        #expect(await allEvents(first) == Received(numbers: Array(1...50)))
        #expect(await allEvents(second) == Received(numbers: Array(2...50)))
    }

    @Test func `the buffer of an observer that does not read is bounded, and one with room misses no event`() async {
        let hub = EventHub()
        let (slow, quick) = (hub.events(limit: 4), hub.events(limit: 10_000))
        for number in 1...5_000 { hub.publish(event(number)) }
        hub.close()
        #expect(await allEvents(quick).numbers.count == 5_000)
        let received = await allEvents(slow)
        #expect((4...6).contains(received.numbers.count))
        #expect(received.numbers == Array(1...received.numbers.count))
    }

    @Test func `an observer that was too slow receives the number of missed events where it missed them`() async {
        let hub = EventHub()
        let stream = hub.events(limit: 4)
        var events = stream.makeAsyncIterator()
        for number in 1...100 { hub.publish(event(number)) }
        var received = Received()
        for _ in 0..<3 { if let event = await events.next() { received.take(event) } }
        #expect(received == Received(numbers: [1, 2, 3]))
        hub.publish(event(101))
        for _ in 0..<4 where received.missed == 0 { if let event = await events.next() { received.take(event) } }
        #expect(received.missed == 100 - received.numbers.count)
        if let event = await events.next() { received.take(event) }
        #expect(received.numbers.last == 101)
    }

    @Test(arguments: 1...20)
    func `at any pace of reading, received and missed events add up to the published ones`(seed: Int) async {
        let hub = EventHub()
        let limit = seed % 5 + 1
        let stream = hub.events(limit: limit)
        var events = stream.makeAsyncIterator()
        var received = Received()
        var published = 0
        for round in 0..<40 {
            let burst = (round * seed + round / 3) % 9 + 1
            for _ in 0..<burst {
                published += 1
                hub.publish(event(published))
            }
            // At least this many are buffered, whatever was missed.
            for _ in 0..<min(burst, limit) { if let event = await events.next() { received.take(event) } }
        }
        hub.close()
        for await event in stream { received.take(event) }
        #expect(received.numbers.count + received.missed == published)
        #expect(received.numbers == received.numbers.sorted())
    }

    @Test func `a stream made after the hub closed ends at once`() async {
        let hub = EventHub()
        hub.close()
        #expect(await allEvents(hub.events(limit: 1)) == Received())
        hub.publish(event(1))
        hub.close()
    }

    @Test func `a released stream is removed from the hub`() async throws {
        let hub = EventHub()
        #expect(!hub.isObserved)
        do {
            let stream = hub.events(limit: 1)
            withExtendedLifetime(stream) { #expect(hub.isObserved) }
        }
        try await eventually { !hub.isObserved }
    }
}
