import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// The mirror's HTTP/1.1.
@Suite(.timeLimit(.minutes(5))) struct MirrorServerTests {
    @Test func `pipelined requests are answered in order, and the connection stays open`() async throws {
        try await withMirror { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send((1...4).map { stage.request("GET", "/covers/\($0).jpg") }.joined())
                for number in 1...4 {
                    let reply = try wire.reply()
                    #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: number))
                }
                try wire.send(
                    stage.request("POST", "/covers/1.jpg", [:], "abc") + stage.request("GET", "/covers/2.jpg"))
                #expect(try wire.reply().status == 405)
                #expect(try wire.reply().outcome == "sleeve; hit")
            }
        }
    }

    @Test func `the response to HEAD has no body, and the next response follows`() async throws {
        try await withMirror { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("HEAD", "/covers/1.jpg"))
                #expect(try wire.reply(toHead: true).status == 200)
                try wire.send(stage.request("HEAD", "/covers/3.jpg", ["Cache-Control": "only-if-cached"]))
                #expect(try wire.reply(toHead: true).status == 504)
                try wire.send(stage.request("GET", "/covers/2.jpg"))
                #expect(try wire.reply().body == CoverImage.jpeg(number: 2))
            }
        }
    }

    @Test func `after a response to HEAD without a length the next response follows`() async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") { listener in
            try await withMirror(of: listener.url) { stage in
                try await onThread {
                    let wire = try Wire(port: stage.port)
                    for _ in 1...2 {
                        try wire.send(stage.request("HEAD", "/a"))
                        let reply = try wire.reply(toHead: true)
                        #expect(reply.status == 200 && reply.fields["connection"] == nil)
                    }
                }
            }
        }
    }

    @Test func `1xx responses are forwarded before the final one, and are not stored (RFC 9110 §15.2)`() async throws {
        let answer = """
            HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Early: 1\r\n\r
            HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                let (early, final) = try await onThread {
                    let wire = try Wire(port: stage.port)
                    try wire.send(stage.request("GET", "/a"))
                    let early = try wire.receive(until: "\r\n\r\n")
                    return (early, try early.contains("200 OK") ? early : early + wire.receive(until: "hi"))
                }
                #expect(early.hasPrefix("HTTP/1.1 103") && early.lowercased().contains("\r\nlink: </a.css>"))
                #expect(final.contains("HTTP/1.1 200 OK"))
                let stored = try await stage.get("/a")
                #expect(stored.status == 200 && stored.outcome == "sleeve; hit" && stored.fields["x-early"] == nil)
            }
        }
    }

    @Test func `a request body above the limit is refused with 413; Expect is answered with 100 below it`() async throws
    {
        try await withMirror { stage in
            let large = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n")
                // The mirror may close the connection before all of the body is sent.
                try? wire.send(String(repeating: "x", count: 2_000_000))
                return try? wire.reply()
            }
            #expect(large.map { $0.status == 413 } ?? true && stage.origin.requestCount == 0)
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(
                    "POST /covers/1.jpg HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
                )
                #expect(try wire.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
                try wire.send("x")
                #expect(try wire.reply().status == 405)
            }
            // A body above the limit is refused before it is sent (RFC 9110 §10.1.1).
            let refused = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(
                    "POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n")
                return try wire.reply()
            }
            #expect(refused.status == 413 && refused.fields["connection"] == "close")
        }
    }

    @Test func `a mirror that is closed answers the requests in flight first, within a time limit`() async throws {
        try await withMirror { stage in
            let idle = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", "/covers/1.jpg"))
                _ = try wire.reply()
                return wire
            }
            async let pending = stage.get("/covers/2.jpg?hold=1")
            try await eventually { stage.requestCount(2) == 1 }
            async let closed: Void = stage.server.close(within: .seconds(3_600))
            try await eventually { (try? await onThread { _ = try Wire(port: stage.port) }) == nil }
            stage.origin.release()
            let reply = try await pending
            await closed
            #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: 2))
            let rest = try await onThread { try idle.drain() }
            #expect(rest.body.isEmpty && rest.ending == .closed, "an idle connection is closed")
        }
        try await withMirror { stage in
            async let pending = stage.get("/covers/3.jpg?fault=never")
            try await eventually { stage.requestCount(3) == 1 }
            await stage.server.close(within: .milliseconds(1))
            stage.mirror.close()
            let reply = try? await pending
            #expect(reply?.status != 200)
        }
    }

    @Test func `a public address needs a name, and an occupied port is reported`() async throws {
        try await withMirror { stage in
            var options = MirrorOptions()
            options.host = "0.0.0.0"
            options.port = 0
            await #expect(throws: MirrorError.self) {
                try await MirrorServer.open(stage.mirror, options, maximumBodySize: 1)
            }
            options.host = "127.0.0.1"
            options.port = stage.origin.port
            await #expect {
                try await MirrorServer.open(stage.mirror, options, maximumBodySize: 1)
            } throws: { "\($0)".contains("cannot listen on 127.0.0.1:\(stage.origin.port)") }
        }
    }
}

/// Bodies that are too large to store.
@Suite(.timeLimit(.minutes(5))) struct StreamingTests {
    @Test(arguments: ["", "&chunked=1"])
    func `a body that is too large to store is streamed, and so are ranges of it`(query: String) async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let path = "/covers/1.jpg?size=1500000" + query
            let complete = try await stage.get(path)
            #expect(complete.status == 200 && complete.outcome == "sleeve; fwd=uri-miss; detail=tooLarge")
            #expect(complete.body == CoverImage.jpeg(number: 1, aboutBytes: 1_500_000))
            let part = try await stage.get(path, ["Range": "bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(complete.body[10..<20]))
            #expect(try stage.entry(path) == nil)
        }
    }

    @Test func `a URL that is known to be too large costs one request to the origin, until it is small enough`()
        async throws
    {
        let small = String(repeating: "x", count: 50)
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let path = "/covers/1.jpg?size=1500000"
            for count in [2, 3, 4] {
                let reply = try await stage.get(path)
                #expect(reply.status == 200 && reply.body.count >= 1_000_000)
                #expect(reply.outcome == "sleeve; fwd=uri-miss; detail=tooLarge")
                #expect(stage.requestCount(1) == count, "the first response shows the size")
            }
        }
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n\r\n\(small)"
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                stage.mirror.largeResponses.withLock { $0.insert(listener.url + "/a") }
                var outcomes: [String] = []
                for _ in 1...3 { outcomes.append(try await stage.get("/a").outcome) }
                #expect(
                    outcomes == [
                        "sleeve; fwd=uri-miss; detail=tooLarge", "sleeve; fwd=uri-miss; stored", "sleeve; hit",
                    ])
            }
        }
    }

    @Test func `the transfer is cancelled when the client disconnects`() async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", "/covers/2.jpg?fault=endless"))
                #expect(try wire.drain(most: 20_000_000).body.count >= 20_000_000)
            }
            try await eventually { stage.origin.openConnectionCount == 0 }
        }
    }

    @Test func `an incomplete body of the origin ends in an incomplete response`() async throws {
        try await withMirror({ $0.maximumSize = 1_000 }) { stage in
            let reply = try await stage.get("/covers/3.jpg?fault=truncate")
            let announced = reply.fields["content-length"].flatMap { Int($0) } ?? 0
            #expect(reply.status == 200 && reply.body.count < announced && reply.ending != .complete)
        }
    }
}
