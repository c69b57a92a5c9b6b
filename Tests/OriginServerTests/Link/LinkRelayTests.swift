import OriginServer
import Testing
import Wire

@Suite("LinkRelay", .timeLimit(.minutes(10)))
struct LinkRelayTests {
    private static let link = LinkModel(roundTrip: .milliseconds(20), bitsPerSecond: 200_000_000)

    private func withLink(
        _ link: LinkModel = Self.link, _ options: OriginOptions = .init(), _ body: (Origin) async throws -> Void
    ) async throws {
        var options = options
        options.link = link
        try await withOrigin(options, body)
    }

    @Test("a cover arrives untouched, and no sooner than two round trips after connecting")
    func cover() async throws {
        try await withLink { origin in
            let start = ContinuousClock.now
            let body = try await origin.fetch("/covers/7.jpg").body
            #expect(body == CoverImage.jpeg(number: 7))
            #expect(.now - start >= Self.link.roundTrip * 2)
        }
    }

    @Test("bodies beyond every buffer arrive whole, also with losses, and no sooner than the bandwidth allows")
    func large() async throws {
        var lossy = Self.link
        lossy.loss = 0.002
        for link in [Self.link, lossy] {
            try await withLink(link) { origin in
                let elapsed = try await ContinuousClock().measure {
                    let reply = try await origin.fetch("/covers/5.jpg?size=5000000")
                    #expect(
                        reply.body.count >= 4_999_997
                            && reply.body == CoverImage.jpeg(number: 5, aboutBytes: 5_000_000))
                }
                #expect(elapsed >= .milliseconds(200))
                #expect((origin.linkMetrics?.lostSegments == 0) == (link.loss == 0))
            }
        }
    }

    @Test("connections and bytes are counted, and /counts reports them")
    func counting() async throws {
        try await withLink { origin in
            let port = origin.port
            let wires = try await onThread {
                try (0..<5).map { number in
                    let wire = try Wire(port: port)
                    try wire.send(request("/covers/\(number).jpg"))
                    #expect(try wire.reply().status == 200)
                    return wire
                }
            }
            let counts = try await origin.fetch("/counts").text
            #expect(counts.contains(#""peakConnections":6"#))
            let metrics = try #require(origin.linkMetrics)
            let sent = wires.indices.reduce(0) { $0 + request("/covers/\($1).jpg").utf8.count }
            #expect(metrics.connections == 6 && metrics.peakConnections == 6)
            #expect(metrics.bytesUp == sent + request("/counts").utf8.count)
            #expect(metrics.bytesDown > wires.indices.reduce(0) { $0 + CoverImage.jpeg(number: $1).count })
            withExtendedLifetime(wires) {}
        }
    }

    @Test("an end and a reset reach the client as such, and a client that leaves reaches the origin")
    func endings() async throws {
        try await withLink { origin in
            #expect(try await origin.fetch("/covers/5.jpg?fault=close").ending == .closed)
            #expect(try await origin.fetch("/covers/5.jpg?fault=reset").ending == .reset)
            let half = try await origin.fetch("/covers/5.jpg?fault=truncate&size=3000000")
            #expect(half.body.count == half.fields["content-length"].flatMap { Int($0) }.map { $0 / 2 })
            let port = origin.port
            try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/5.jpg?fault=endless"))
                _ = try wire.drain(most: 3_000_000)
            }
            try await eventually { origin.openConnectionCount == 0 && origin.linkMetrics?.openConnections == 0 }
        }
    }

    @Test("a client that reads nothing stops the origin, and only its own connection")
    func stalled() async throws {
        try await withLink { origin in
            let port = origin.port
            let stalled = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/5.jpg?size=60000000"))
                return wire
            }
            try await eventually { origin.requestCount == 1 }
            #expect(try await origin.fetch("/covers/7.jpg").body == CoverImage.jpeg(number: 7))
            let reply = try await onThread { try stalled.reply() }
            #expect(reply.body.count >= 59_999_997)
        }
    }

    @Test("a link leads to any server, and a server that is not there resets the connection")
    func before() async throws {
        try await withOrigin { origin in
            let relay = try await LinkRelay.start(
                Self.link, host: "127.0.0.1", port: 0, before: "localhost", port: origin.port)
            let port = relay.port
            let body = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/7.jpg"))
                return try wire.reply().body
            }
            #expect(body == CoverImage.jpeg(number: 7))
            await relay.stop()
            await #expect(throws: Wire.Failure.self) { try await onThread { _ = try Wire(port: port) } }
        }
        let relay = try await LinkRelay.start(
            Self.link, host: "127.0.0.1", port: 0, before: "127.0.0.1", port: try await closedPort())
        let port = relay.port
        let ending = try await onThread {
            let wire = try Wire(port: port)
            return try wire.drain().ending
        }
        #expect(ending == .reset)
        await relay.stop()
    }

    @Test("the error names the address that is in use, or the unknown host")
    func errors() async throws {
        try await withOrigin { origin in
            var options = OriginOptions()
            (options.port, options.link) = (origin.port, Self.link)
            let error = await #expect(throws: OriginError.self) { try await Origin.start(options) }
            #expect(error?.description.contains("cannot listen on 127.0.0.1:\(origin.port)") == true)
        }
        let error = await #expect(throws: OriginError.self) {
            try await LinkRelay.start(Self.link, host: "127.0.0.1", port: 0, before: "no such host", port: 80)
        }
        #expect(error?.description == "cannot find the address of no such host")
    }
}
