import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// Clients that read a streamed body slowly, or not at all.
@Suite(.timeLimit(.minutes(5))) struct SlowClientTests {
    @Test("a client that takes nothing for 30 seconds is disconnected, and its transfer is cancelled")
    func stalled() async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let wire = try await endlessBody(1, stage)
            try await eventually { stage.server.clients.oldestWrite == stage.clock.now }
            stage.clock.advance(by: .seconds(29))
            stage.server.clients.disconnectAll()
            #expect(stage.origin.openConnectionCount == 1)
            try await eventually {
                stage.clock.advance(by: .seconds(31))
                stage.server.clients.disconnectAll()
                return stage.origin.openConnectionCount == 0
            }
            #expect(try await onThread { try wire.drain().ending } != .complete)
        }
    }

    @Test("a client that takes something every 20 seconds stays connected")
    func slow() async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let wire = try await endlessBody(1, stage)
            for _ in 1...5 {
                stage.clock.advance(by: .seconds(20))
                // The client reads until a write of the server has completed.
                while stage.server.clients.oldestWrite != stage.clock.now {
                    let count = try await onThread { try wire.drain(most: 250_000).body.count }
                    try #require(count >= 250_000)
                }
                stage.server.clients.disconnectAll()
            }
            #expect(stage.origin.openConnectionCount == 1)
        }
    }

    @Test("slow clients occupy at most half of the requests to the origin, and others are answered")
    func places() async throws {
        try await withMirror({
            $0.maximumSize = 100_000
            $0.perHost = 4
        }) { stage in
            var wires: [Wire] = []
            for number in 10..<16 { wires.append(try await request(number, stage)) }
            try await eventually { (10..<16).reduce(0) { $0 + stage.requestCount($1) } == 6 + 2 }
            for number in 1...8 { #expect(try await stage.get("/covers/\(number).jpg").status == 200) }
            withExtendedLifetime(wires) {}
        }
    }

    /// Requests a body without end, and reads nothing of it.
    private func request(_ number: Int, _ stage: MirrorStage) async throws -> Wire {
        try await onThread {
            let wire = try Wire(port: stage.port)
            try wire.send(stage.request("GET", "/covers/\(number).jpg?fault=endless"))
            return wire
        }
    }

    /// Returns when the body is being streamed: the first request to the origin shows that it is too large to store.
    private func endlessBody(_ number: Int, _ stage: MirrorStage) async throws -> Wire {
        let wire = try await request(number, stage)
        // The connection of the first one is closed.
        try await eventually { stage.requestCount(number) == 2 && stage.origin.openConnectionCount == 1 }
        return wire
    }
}
