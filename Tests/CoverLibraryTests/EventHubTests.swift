import Testing

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct EventHubTests {
    private func event(_ number: Int) -> LibraryEvent {
        .arrived(CoverArrival(url: "\(number)", digest: "", bytes: number, isDuplicate: false, time: 0))
    }

    /// What an observer got: the numbers of events, and how many it was told it missed.
    private struct Got: Equatable {
        var numbers: [Int] = []
        var missed = 0

        mutating func take(_ event: LibraryEvent) {
            switch event {
            case .arrived(let arrival): numbers.append(arrival.bytes)
            case .missed(let count): missed += count
            case .failed, .albumsChanged: Issue.record("nothing of the kind was published")
            }
        }
    }

    private func everything(_ stream: AsyncStream<LibraryEvent>) async -> Got {
        var got = Got()
        for await event in stream { got.take(event) }
        return got
    }

    @Test("every observer gets every event, in order, and its stream ends when the hub closes")
    func observers() async {
        let hub = EventHub()
        let (first, second) = (hub.events(limit: 100), hub.events(limit: 100))
        for number in 1...50 { hub.publish(event(number)) }
        hub.close()
        #expect(await everything(first) == Got(numbers: Array(1...50)))
        #expect(await everything(second) == Got(numbers: Array(1...50)))
    }

    @Test("an observer gets what is published after it came")
    func lateObserver() async {
        let hub = EventHub()
        hub.publish(event(1))
        let stream = hub.events(limit: 10)
        hub.publish(event(2))
        hub.close()
        #expect(await everything(stream) == Got(numbers: [2]))
    }

    @Test("an observer that does nothing keeps a bounded number of events, and another that keeps up misses none")
    func bounded() async {
        let hub = EventHub()
        let (slow, quick) = (hub.events(limit: 4), hub.events(limit: 10_000))
        for number in 1...5_000 { hub.publish(event(number)) }
        hub.close()
        #expect(await everything(quick).numbers.count == 5_000)
        let got = await everything(slow)
        #expect((4...6).contains(got.numbers.count))
        #expect(got.numbers == Array(1...got.numbers.count))
    }

    @Test("an observer that was too slow is told exactly how many it missed, where it missed them")
    func missed() async {
        let hub = EventHub()
        let stream = hub.events(limit: 4)
        var events = stream.makeAsyncIterator()
        for number in 1...100 { hub.publish(event(number)) }
        var got = Got()
        for _ in 0..<3 { if let event = await events.next() { got.take(event) } }
        #expect(got == Got(numbers: [1, 2, 3]))
        hub.publish(event(101))
        for _ in 0..<4 where got.missed == 0 { if let event = await events.next() { got.take(event) } }
        #expect(got.missed == 100 - got.numbers.count)
        if let event = await events.next() { got.take(event) }
        #expect(got.numbers.last == 101)
    }

    @Test("an observer that is behind when the hub closes is told how many it missed, too")
    func missedAtTheEnd() async {
        let hub = EventHub()
        let stream = hub.events(limit: 4)
        for number in 1...100 { hub.publish(event(number)) }
        hub.close()
        let got = await everything(stream)
        #expect(got.numbers.count + got.missed == 100)
    }

    @Test("at any pace of reading, the events got and those told missed are all there were", arguments: 1...20)
    func anyPace(seed: Int) async {
        let hub = EventHub()
        let limit = seed % 5 + 1
        let stream = hub.events(limit: limit)
        var events = stream.makeAsyncIterator()
        var got = Got()
        var published = 0
        for round in 0..<40 {
            let burst = (round * seed + round / 3) % 9 + 1
            for _ in 0..<burst {
                published += 1
                hub.publish(event(published))
            }
            // So many are there for certain, whatever was missed.
            for _ in 0..<min(burst, limit) { if let event = await events.next() { got.take(event) } }
        }
        hub.close()
        for await event in stream { got.take(event) }
        #expect(got.numbers.count + got.missed == published)
        #expect(got.numbers == got.numbers.sorted())
    }

    @Test("a stream asked for after the end ends at once")
    func afterTheEnd() async {
        let hub = EventHub()
        hub.close()
        #expect(await everything(hub.events(limit: 1)) == Got())
        hub.publish(event(1))
        hub.close()
    }

    @Test("an observer that goes away is forgotten")
    func forgotten() async {
        let hub = EventHub()
        #expect(!hub.isObserved)
        do {
            let stream = hub.events(limit: 1)
            withExtendedLifetime(stream) { #expect(hub.isObserved) }
        }
        while hub.isObserved { await Task.yield() }
    }
}
