import Platform
import Testing

@testable import LinkEmulator

/// Runs a direction on a virtual clock.
private struct Run {
    var direction: LinkDirection
    /// The time, the connection and the length of every arrival of bytes, and the time of every end.
    var received: [(time: Duration, connection: Int, length: Int)] = []
    var ends: [Int: Duration] = [:]
    var opened: [Int: Duration] = [:]
    private var storage: [LinkDirection.Arrival] = []

    init(_ link: LinkModel) { direction = LinkDirection(link, seed: link.seed) }

    /// Processes events one by one until `end`, or until there are none.
    mutating func run(until end: Duration = .seconds(3600)) {
        while let next = direction.nextEvent, next <= end {
            direction.advance(to: next)
            take(at: next)
        }
    }

    mutating func take(at now: Duration) {
        direction.takeArrivals(&storage)
        for arrival in storage {
            switch arrival.event {
            case .open: opened[arrival.connection] = now
            case .data: received.append((now, arrival.connection, arrival.length))
            case .end, .reset: ends[arrival.connection] = now
            }
        }
    }

    /// The bytes that arrived after `start` and not after `end`.
    func bytes(after start: Duration = .zero, until end: Duration) -> Int {
        received.reduce(0) { $0 + ($1.time > start && $1.time <= end ? $1.length : 0) }
    }
}

@Suite
struct LinkDirectionTests {
    static let links: [LinkModel] = [15, 50, 150].flatMap { milliseconds in
        [50, 200].map { LinkModel(roundTrip: .milliseconds(milliseconds), bitsPerSecond: $0 * 1_000_000) }
    }

    private func isClose(_ measured: Duration, _ expected: Duration, within tolerance: Double) -> Bool {
        abs(measured / expected - 1) <= tolerance
    }

    @Test(arguments: links)
    func `a connection opens after half a round trip, and its first bytes arrive after one and a half`(link: LinkModel)
        throws
    {
        var run = Run(link)
        run.direction.open(1, at: .seconds(1))
        run.direction.send(100, on: 1, at: .seconds(1))
        run.run()
        #expect(run.opened[1] == .seconds(1) + link.roundTrip / 2)
        let arrival = try #require(run.received.first)
        #expect(run.received.count == 1 && arrival.length == 100)
        #expect(arrival.time == .seconds(1) + link.roundTrip * 1.5 + link.transmissionTime(100))
    }

    @Test(arguments: links)
    func `a GET over a new connection takes two round trips, over TLS 1.3 three`(link: LinkModel) throws {
        for (flights, roundTrips) in [(1, 2), (2, 3)] {
            var (up, down) = (Run(link), Run(link))
            up.direction.open(1, at: .zero)
            up.run(until: link.roundTrip / 2)
            down.direction.open(1, at: link.roundTrip / 2)
            var now = Duration.zero
            for _ in 0..<flights {
                up.direction.send(1, on: 1, at: now)
                up.run()
                down.direction.send(1, on: 1, at: try #require(up.received.last).time)
                down.run()
                now = try #require(down.received.last).time
            }
            #expect(isClose(now, link.roundTrip * roundTrips, within: 0.001))
        }
    }

    /// In round k of slow start, ten segments times 2^k are sent. From the first round that fills the link on, bytes arrive at
    /// its bandwidth.
    @Test(arguments: links)
    func `the ramp of one connection is that of slow start, within 0.1 %`(link: LinkModel) throws {
        var run = Run(link)
        run.direction.open(1, at: .zero)
        run.direction.send(30_000_000, on: 1, at: .zero)
        run.run()
        let initial = 10 * CongestionWindow.segment
        let full = try #require((0...).first { link.transmissionTime(initial << $0) >= link.roundTrip })
        var (received, deviation) = (0, 0.0)
        for arrival in run.received {
            received += arrival.length
            let round = min(try #require((0...).first { received <= (initial << ($0 + 1)) - initial }), full)
            let inRound = received - ((initial << round) - initial)
            // Each round starts with an acknowledgement, one segment after the last round's first.
            let sent = inRound + round * CongestionWindow.segment
            let expected = link.roundTrip * (Double(round) + 1.5) + link.transmissionTime(sent)
            deviation = max(deviation, abs(arrival.time / expected - 1))
        }
        #expect(deviation < 0.001)
        #expect(received == 30_000_000)
    }

    @Test(arguments: links)
    func `one connection and 64 together get the whole bandwidth, and no more`(link: LinkModel) {
        for connections in [1, 64] {
            var run = Run(link)
            for connection in 0..<connections {
                run.direction.open(connection, at: .zero)
                run.direction.send(100_000_000 / connections, on: connection, at: .zero)
            }
            run.run(until: .seconds(3))
            let bytes = run.bytes(after: .seconds(2), until: .seconds(3))
            #expect(abs(Double(bytes) * 8 / Double(link.bitsPerSecond) - 1) < 0.001)
        }
    }

    @Test func `what arrives does not depend on how often the clock is read`() throws {
        var link = Self.links[3]
        link.loss = 0.02
        var (fine, coarse) = (Run(link), Run(link))
        for connection in 0..<4 {
            fine.direction.open(connection, at: .zero)
            fine.direction.send(1_000_000, on: connection, at: .zero)
        }
        coarse.direction = fine.direction
        for now in stride(from: 10, through: 3000, by: 10).map({ Duration.milliseconds($0) }) {
            fine.run(until: now)
            coarse.direction.advance(to: now)
            coarse.take(at: now)
            #expect(fine.bytes(until: now) == coarse.bytes(until: now))
        }
        #expect(coarse.bytes(until: .seconds(3)) > 1_000_000)
    }

    @Test func `with losses, all bytes arrive before the end, at the rate of TCP Reno (Mathis et al., 1997)`() throws {
        var link = Self.links[3]
        link.loss = 0.01
        var run = Run(link)
        run.direction.open(1, at: .zero)
        run.direction.send(20_000_000, on: 1, at: .zero)
        run.direction.end(1, with: .end, at: .zero)
        run.run()
        let end = try #require(run.ends[1])
        #expect(run.bytes(until: end) == 20_000_000)
        #expect(run.received.allSatisfy { $0.time <= end })
        let segments = 20_000_000 / CongestionWindow.segment
        #expect((0.007...0.013).contains(Double(run.direction.lostSegments) / Double(segments)))
        let rate = Double(CongestionWindow.segment) * (1.5 / link.loss).squareRoot() / (link.roundTrip / .seconds(1))
        #expect(abs(20_000_000 / (end / .seconds(1)) / rate - 1) < 0.25)
    }

    @Test
    func `a lost segment delays what follows it on its connection by one round trip, and other connections not at all`()
        throws
    {
        var link = Self.links[3]
        // This seed loses the second segment of twenty.
        (link.loss, link.seed) = (0.05, try #require((1...).first { loses(only: 1, of: 20, seed: $0) }))
        var run = Run(link)
        for connection in 1...2 {
            run.direction.open(connection, at: .zero)
            run.direction.send(10 * CongestionWindow.segment, on: connection, at: .zero)
        }
        run.run()
        #expect(run.direction.lostSegments == 1)
        let blocked = run.received.filter { $0.connection == 1 }
        #expect(blocked.map(\.length) == [CongestionWindow.segment, 9 * CongestionWindow.segment])
        #expect(isClose(blocked[1].time - blocked[0].time, link.roundTrip, within: 0.01))
        #expect(run.received.filter { $0.connection == 2 }.allSatisfy { $0.time < link.roundTrip * 1.6 })
    }

    /// Whether the generator with this seed loses only one segment of the first `count`, with a loss of 5 %.
    private func loses(only lost: Int, of count: Int, seed: UInt64) -> Bool {
        var random = SplitMix64(seed: seed)
        return (0...count).allSatisfy { (Double.random(in: 0..<1, using: &random) < 0.05) == ($0 == lost) }
    }

    @Test func `a receiver that takes no bytes stops its sender and no other`() {
        let link = Self.links[1]
        var run = Run(link)
        for connection in 1...2 {
            run.direction.open(connection, at: .zero)
            run.direction.send(1_000_000, on: connection, at: .zero)
        }
        run.run(until: link.roundTrip)
        run.direction.setReceiving(false, on: 1, at: link.roundTrip)
        run.run()
        #expect(run.received.filter { $0.connection == 1 }.reduce(0) { $0 + $1.length } < 40_000)
        #expect(run.received.filter { $0.connection == 2 }.reduce(0) { $0 + $1.length } == 1_000_000)
        run.direction.setReceiving(true, on: 1, at: .seconds(10))
        run.run()
        #expect(run.bytes(until: .seconds(20)) == 2_000_000)
    }

    @Test func `a reset overtakes the bytes that wait, and a removed connection receives nothing`() {
        let link = Self.links[1]
        var run = Run(link)
        for connection in 1...2 {
            run.direction.open(connection, at: .zero)
            run.direction.send(1_000_000, on: connection, at: .zero)
        }
        run.run(until: link.roundTrip * 2)
        let received = run.bytes(until: .seconds(9))
        run.direction.end(1, with: .reset, at: link.roundTrip * 2)
        run.direction.remove(2)
        run.run()
        #expect(run.ends[1].map { $0 < link.roundTrip * 3 } == true)
        #expect(run.bytes(until: .seconds(9)) < received + 200_000)
        #expect(run.ends[2] == nil && run.received.allSatisfy { $0.connection == 1 || $0.time <= link.roundTrip * 2 })
    }
}
