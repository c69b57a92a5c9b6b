import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// Clients that read a response slowly or not at all, or that stop sending.
@Suite(.timeLimit(.minutes(5))) struct SlowClientTests {
    @Test func `a client that stops reading a streamed body is disconnected, and its transfer is cancelled`()
        async throws
    {
        try await withMirror(options: { $0.clientTimeout = .milliseconds(300) }, { $0.maximumSize = 100_000 }) {
            stage in
            let wire = try await request(1, stage)
            // The first request to the origin shows that the body is too large to store.
            try await eventually { stage.requestCount(1) == 2 && stage.origin.openConnectionCount == 0 }
            #expect(try await onThread { try wire.drain().ending } != .complete)
        }
    }

    @Test func `a client that stops reading a stored body is disconnected, and its memory is released`() async throws {
        try await withMirror(options: { $0.clientTimeout = .milliseconds(300) }) { stage in
            let path = "/covers/1.jpg?size=9000000"
            let count = try await stage.get(path).body.count
            let wire = try await onThread {
                let wire = try Wire(port: stage.port, receiveBuffer: 1 << 16)
                try wire.send(stage.request("GET", path))
                return wire
            }
            try await eventually { stage.mirror.heldBytes == count }
            try await eventually { stage.mirror.heldBytes == 0 }
            #expect(try await onThread { try wire.drain().body.count } < count)
        }
    }

    @Test func `a client that stops in the middle of a request is disconnected, and its memory is released`()
        async throws
    {
        try await withMirror(options: { $0.clientTimeout = .milliseconds(300) }) { stage in
            let wire = try await unfinishedPost(of: 900_000, sending: 500_000, stage)
            try await eventually { stage.server.requestBytes == 500_000 }
            try await eventually { stage.server.requestBytes == 0 }
            #expect(try await onThread { try wire.drain().ending } != .complete)
        }
    }

    @Test func `bodies beyond the memory for all of them are refused with 503`() async throws {
        try await withMirror(options: { $0.maximumRequestBytes = 1 << 20 }) { stage in
            let held = try await unfinishedPost(of: 900_000, sending: 800_000, stage)
            try await eventually { stage.server.requestBytes == 800_000 }
            let refused = try await unfinishedPost(of: 900_000, sending: 400_000, stage)
            let reply = try await onThread { try refused.reply() }
            #expect(reply.status == 503 && reply.fields["retry-after"] != nil && reply.fields["connection"] == "close")
            #expect(stage.origin.requestCount == 0)
            try await onThread { try held.send(String(repeating: "x", count: 100_000)) }
            #expect(try await onThread { [404, 405].contains(try held.reply().status) })
            try await eventually { stage.server.requestBytes == 0 }
        }
    }

    @Test func `slow clients occupy at most half of the requests to the origin, and others are answered`() async throws
    {
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

    /// Requests a body without end, and does not read it.
    private func request(_ number: Int, _ stage: MirrorStage) async throws -> Wire {
        try await onThread {
            let wire = try Wire(port: stage.port, receiveBuffer: 1 << 16)
            try wire.send(stage.request("GET", "/covers/\(number).jpg?fault=endless"))
            return wire
        }
    }

    /// Sends a part of a body.
    private func unfinishedPost(of length: Int, sending count: Int, _ stage: MirrorStage) async throws -> Wire {
        try await onThread {
            let wire = try Wire(port: stage.port)
            try wire.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n")
            try wire.send(String(repeating: "x", count: count))
            return wire
        }
    }
}
