import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// How the mirror speaks HTTP/1.1.
@Suite(.timeLimit(.minutes(5))) struct WireTests {
    @Test("requests sent at once on one connection are answered in order, and the connection stays open")
    func pipelining() async throws {
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

    @Test("HEAD brings no body, and the next answer begins where it should")
    func head() async throws {
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

    @Test("where the length is not known, the connection ends after the answer to HEAD, and no byte follows it")
    func headWithoutLength() async throws {
        try await withListener(answer: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") { listener in
            try await withMirror(of: listener.url) { stage in
                try await onThread {
                    let wire = try Wire(port: stage.port)
                    try wire.send(stage.request("HEAD", "/a"))
                    let reply = try wire.reply(toHead: true)
                    #expect(reply.status == 200 && reply.fields["connection"] == "close")
                    let rest = try wire.drain()
                    #expect(rest.body.isEmpty && rest.ending == .closed)
                }
            }
        }
    }

    @Test("1xx responses go out before the final one, and are not stored (RFC 9110 §15.2)")
    func interim() async throws {
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

    @Test("a request's body beyond the limit is refused with 413, and one that asks first is told to go on")
    func bodies() async throws {
        try await withMirror { stage in
            let large = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n")
                // The mirror may hang up while the body is still on its way.
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
            // One that is too long is refused before it is sent (RFC 9110 §10.1.1).
            let refused = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(
                    "POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n")
                return try wire.reply()
            }
            #expect(refused.status == 413 && refused.fields["connection"] == "close")
        }
    }

    @Test("a mirror that is closed answers first what it was asked, unless that takes too long")
    func closing() async throws {
        try await withMirror { stage in
            let idle = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", "/covers/1.jpg"))
                _ = try wire.reply()
                return wire
            }
            async let asked = stage.get("/covers/2.jpg?hold=1")
            await until { stage.requests(2) == 1 }
            async let closed: Void = stage.server.close(within: .seconds(3_600))
            await until { (try? await onThread { _ = try Wire(port: stage.port) }) == nil }
            stage.origin.release()
            let reply = try await asked
            await closed
            #expect(reply.status == 200 && reply.body == CoverImage.jpeg(number: 2))
            let rest = try await onThread { try idle.drain() }
            #expect(rest.body.isEmpty && rest.ending == .closed, "an idle connection is not waited for")
        }
        try await withMirror { stage in
            async let asked = stage.get("/covers/3.jpg?fault=never")
            await until { stage.requests(3) == 1 }
            await stage.server.close(within: .milliseconds(1))
            stage.mirror.close()
            let reply = try? await asked
            #expect(reply?.status != 200)
        }
    }

    @Test("where others can connect a name is needed, and a taken port is said")
    func opening() async throws {
        try await withMirror { stage in
            var options = MirrorOptions()
            options.host = "0.0.0.0"
            options.port = 0
            await #expect(throws: MirrorError.self) {
                try await MirrorServer.open(stage.mirror, options, largestBody: 1)
            }
            options.host = "127.0.0.1"
            options.port = stage.origin.port
            await #expect {
                try await MirrorServer.open(stage.mirror, options, largestBody: 1)
            } throws: { "\($0)".contains("cannot listen on 127.0.0.1:\(stage.origin.port)") }
        }
    }
}

/// Bodies that are larger than what is kept.
@Suite(.timeLimit(.minutes(5))) struct PassingTests {
    @Test("what is larger than is kept passes through whole, and so do parts of it", arguments: ["", "&chunked=1"])
    func large(query: String) async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let path = "/covers/1.jpg?size=1500000" + query
            let whole = try await stage.get(path)
            #expect(whole.status == 200 && whole.outcome == "sleeve; fwd=uri-miss; detail=tooLarge")
            #expect(whole.body == CoverImage.jpeg(number: 1, aboutBytes: 1_500_000))
            let part = try await stage.get(path, ["Range": "bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(whole.body[10..<20]))
            #expect(try stage.library.reader.entry(for: stage.origin.url + path) == nil)
        }
    }

    @Test("what was seen to be larger than is kept costs the origin one request a time, until it is smaller")
    func onceEach() async throws {
        let small = String(repeating: "x", count: 50)
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            let path = "/covers/1.jpg?size=1500000"
            for asked in [2, 3, 4] {
                let reply = try await stage.get(path)
                #expect(reply.status == 200 && reply.body.count >= 1_000_000)
                #expect(reply.outcome == "sleeve; fwd=uri-miss; detail=tooLarge")
                #expect(stage.requests(1) == asked, "the first time it has to be found out")
            }
        }
        let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n\r\n\(small)"
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                stage.mirror.largeBodies.withLock { $0.insert(listener.url + "/a") }
                var outcomes: [String] = []
                for _ in 1...3 { outcomes.append(try await stage.get("/a").outcome) }
                #expect(
                    outcomes == [
                        "sleeve; fwd=uri-miss; detail=tooLarge", "sleeve; fwd=uri-miss; stored", "sleeve; hit",
                    ])
            }
        }
    }

    @Test("a client that leaves ends the transfer, however much is still to come")
    func clientLeaves() async throws {
        try await withMirror({ $0.maximumSize = 100_000 }) { stage in
            try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(stage.request("GET", "/covers/2.jpg?fault=endless"))
                #expect(try wire.drain(most: 20_000_000).body.count >= 20_000_000)
            }
            await until { stage.origin.openConnectionCount == 0 }
        }
    }

    @Test("when the origin breaks off, so does the mirror: half is not taken for the whole")
    func broken() async throws {
        try await withMirror({ $0.maximumSize = 1_000 }) { stage in
            let reply = try await stage.get("/covers/3.jpg?fault=truncate")
            let announced = reply.fields["content-length"].flatMap { Int($0) } ?? 0
            #expect(reply.status == 200 && reply.body.count < announced && reply.ending != .complete)
        }
    }
}
