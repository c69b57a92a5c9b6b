import LinkEmulator
import OriginServer
import Testing
import Wire

@Suite(.timeLimit(.minutes(10)))
struct LinkRelayTests {
    private static let link = LinkModel(roundTrip: .milliseconds(20), bitsPerSecond: 200_000_000)

    /// Runs `body` with an origin and a link before it, and stops both afterwards.
    private func withLink(
        _ link: LinkModel = Self.link, _ body: (Origin, LinkRelay) async throws -> Void
    ) async throws {
        let origin = try await Origin.start()
        let relay = try await LinkRelay.start(link, port: origin.port)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, relay)) } catch { result = .failure(error) }
        await relay.stop()
        await origin.stop()
        try result.get()
    }

    private func request(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

    /// Sends one request over the link, on its own connection.
    private func fetch(_ target: String, over relay: LinkRelay) async throws -> Reply {
        let (port, request) = (relay.port, request(target))
        return try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request)
            return try wire.reply()
        }
    }

    @Test func `a cover arrives untouched, and no sooner than two round trips after connecting`() async throws {
        try await withLink { origin, relay in
            let start = ContinuousClock.now
            let body = try await fetch("/covers/7.jpg", over: relay).body
            #expect(body == CoverImage.jpeg(number: 7))
            #expect(.now - start >= Self.link.roundTrip * 2)
        }
    }

    @Test func `bodies beyond every buffer arrive whole, also with losses, and no sooner than the bandwidth allows`()
        async throws
    {
        var lossy = Self.link
        lossy.loss = 0.002
        for link in [Self.link, lossy] {
            try await withLink(link) { _, relay in
                let elapsed = try await ContinuousClock().measure {
                    let reply = try await fetch("/covers/5.jpg?size=5000000", over: relay)
                    #expect(
                        reply.body.count >= 4_999_997
                            && reply.body == CoverImage.jpeg(number: 5, aboutBytes: 5_000_000))
                }
                #expect(elapsed >= .milliseconds(200))
                #expect((relay.metrics.lostSegments == 0) == (link.loss == 0))
            }
        }
    }

    @Test func `connections and bytes are counted`() async throws {
        try await withLink { origin, relay in
            let port = relay.port
            let wires = try await onThread {
                try (0..<5).map { number in
                    let wire = try Wire(port: port)
                    try wire.send(request("/covers/\(number).jpg"))
                    #expect(try wire.reply().status == 200)
                    return wire
                }
            }
            let metrics = relay.metrics
            let sent = wires.indices.reduce(0) { $0 + request("/covers/\($1).jpg").utf8.count }
            #expect(metrics.connections == 5 && metrics.peakConnections == 5)
            #expect(metrics.bytesUp == sent)
            #expect(metrics.bytesDown > wires.indices.reduce(0) { $0 + CoverImage.jpeg(number: $1).count })
            withExtendedLifetime(wires) {}
        }
    }

    @Test func `an end and a reset reach the client as such, and a client that leaves reaches the origin`() async throws
    {
        try await withLink { origin, relay in
            #expect(try await fetch("/covers/5.jpg?fault=close", over: relay).ending == .closed)
            #expect(try await fetch("/covers/5.jpg?fault=reset", over: relay).ending == .reset)
            let half = try await fetch("/covers/5.jpg?fault=truncate&size=3000000", over: relay)
            #expect(half.body.count == half.fields["content-length"].flatMap { Int($0) }.map { $0 / 2 })
            let port = relay.port
            try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/5.jpg?fault=endless"))
                _ = try wire.drain(most: 3_000_000)
            }
            try await eventually { origin.openConnectionCount == 0 && relay.metrics.openConnections == 0 }
        }
    }

    @Test func `a client that has ended its side receives what the server sends after that`() async throws {
        // It answers a head without an end when the connection has ended.
        try await withListener(answer: "late") { listener in
            let relay = try await LinkRelay.start(Self.link, port: listener.port)
            let port = relay.port
            let reply = try await onThread {
                let wire = try Wire(port: port)
                try wire.send("unfinished")
                try wire.endSending()
                return try wire.drain()
            }
            #expect(String(decoding: reply.body, as: UTF8.self) == "late" && reply.ending == .closed)
            try await eventually { relay.metrics.openConnections == 0 }
            await relay.stop()
        }
    }

    @Test func `stopping closes the connections that are open`() async throws {
        try await withListener(answer: nil) { listener in
            let relay = try await LinkRelay.start(Self.link, port: listener.port)
            let port = relay.port
            let wire = try await onThread { try Wire(port: port) }
            try await eventually { relay.metrics.openConnections == 1 }
            await relay.stop()
            #expect(relay.metrics.openConnections == 0)
            #expect(try await onThread { try wire.drain().ending } == .closed)
        }
    }

    @Test func `a client that reads nothing stops the origin, and only its own connection`() async throws {
        try await withLink { origin, relay in
            let port = relay.port
            let stalled = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/5.jpg?size=60000000"))
                return wire
            }
            try await eventually { origin.requestCount == 1 }
            #expect(try await fetch("/covers/7.jpg", over: relay).body == CoverImage.jpeg(number: 7))
            let reply = try await onThread { try stalled.reply() }
            #expect(reply.body.count >= 59_999_997)
        }
    }

    @Test func `a server that is not there resets the connection`() async throws {
        let relay = try await LinkRelay.start(Self.link, before: "localhost", port: try closedPort())
        let port = relay.port
        let ending = try await onThread {
            let wire = try Wire(port: port)
            return try wire.drain().ending
        }
        #expect(ending == .reset)
        await relay.stop()
        await #expect(throws: Wire.Failure.self) { try await onThread { _ = try Wire(port: port) } }
    }

    @Test func `the error names the address that is in use, or the unknown host`() async throws {
        let origin = try await Origin.start()
        let error = await #expect(throws: LinkError.self) {
            try await LinkRelay.start(Self.link, on: origin.port, port: origin.port)
        }
        #expect(error?.description.contains("cannot listen on 127.0.0.1:\(origin.port)") == true)
        await origin.stop()
        let unknown = await #expect(throws: LinkError.self) {
            try await LinkRelay.start(Self.link, before: "no such host", port: 80)
        }
        #expect(unknown?.description == "cannot find the address of no such host")
    }
}
