import OriginServer
import Testing
import Wire

@Suite("An origin", .timeLimit(.minutes(10)))
struct OriginTests {
    @Test("serves a cover under the URL it names")
    func cover() async throws {
        try await withOrigin { origin in
            #expect(origin.coverURL(7) == "http://127.0.0.1:\(origin.port)/covers/7.jpg")
            let reply = try await origin.fetch("/covers/7.jpg")
            #expect(reply.status == 200)
            #expect(reply.body == CoverImage.jpeg(number: 7))
            #expect(reply.fields["content-type"] == "image/jpeg")
            #expect(reply.fields["cache-control"] == "public, max-age=86400")
            #expect(reply.fields["accept-ranges"] == "bytes")
            #expect(reply.fields["date"]?.hasSuffix(" GMT") == true)
        }
    }

    @Test("serves PNGs and a page that explains it")
    func others() async throws {
        try await withOrigin { origin in
            #expect(try await origin.fetch("/covers/7.png").body == CoverImage.png(number: 7))
            let help = try await origin.fetch("/")
            for fault in OriginFault.allCases { #expect(help.text.contains(fault.rawValue)) }
        }
    }

    @Test(
        "has nothing at other paths",
        arguments: [
            "/covers/x.jpg", "/covers/-1.jpg", "/covers/+1.jpg", "/covers/.jpg", "/covers/1.gif", "/covers/",
            "/starter/.jpg",
            "/starter/a%2Fb.jpg", "/covers/99999999999999999999.jpg", "/elsewhere",
        ])
    func nothing(path: String) async throws {
        try await withOrigin { origin in
            let reply = try await origin.fetch(path)
            #expect(reply.status == 404)
        }
    }

    @Test("answers HEAD with the fields of GET and no body")
    func head() async throws {
        try await withOrigin { origin in
            let get = try await origin.fetch("/covers/3.jpg")
            var head = try await origin.fetch("/covers/3.jpg", method: "HEAD")
            head.fields["date"] = get.fields["date"]
            #expect(head.fields == get.fields)
            #expect(try await origin.fetch("/covers/3.jpg", method: "POST").status == 405)
        }
    }

    @Test("answers a plain request byte for byte as one with fields of its own")
    func shortCut() async throws {
        try await withOrigin { origin in
            for number in [0, 1, 42, 123_456_789_012_345_678] {
                let plain = try await origin.fetch("/covers/\(number).jpg")
                let other = try await origin.fetch("/covers/\(number).jpg", ["X-Aside": "1"])
                let withoutDate = { (reply: Reply) in reply.head.split(separator: "\r\nDate: ").first }
                #expect(withoutDate(plain) == withoutDate(other))
                #expect(plain.body == other.body)
                let delayed = try await origin.fetch("/covers/\(number).jpg?delay=10")
                #expect(withoutDate(plain) == withoutDate(delayed))
            }
        }
    }

    @Test("answers requests that were sent at once in their order, plain or not")
    func pipelined() async throws {
        try await withOrigin { origin in
            let port = origin.port
            let targets = [
                "/covers/1.jpg", "/covers/2.jpg?delay=40", "/covers/3.jpg", "/covers/4.jpg?delay=20&x", "/covers/5.jpg",
            ]
            let all = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(targets.map { request($0) }.joined() + request("/", ["Connection": "close"]))
                return try wire.drain().body
            }
            let order = String(decoding: all, as: Unicode.ASCII.self).split(separator: "ETag: \"c").dropFirst()
                .compactMap { $0.first }
            #expect(order == ["1", "2", "3", "4", "5"])
        }
    }

    @Test("keeps a connection for the next request, and counts both")
    func counting() async throws {
        var options = OriginOptions()
        options.countPaths = true
        try await withOrigin(options) { origin in
            let port = origin.port
            try await onThread {
                let wire = try Wire(port: port)
                for target in ["/covers/1.jpg", "/covers/2.jpg", "/covers/2.jpg?chunked=1", "/covers/1.jpg?a"] {
                    try wire.send(request(target))
                    #expect(try wire.reply().status == 200)
                }
            }
            #expect(origin.requestCount == 4)
            #expect(origin.connectionCount == 1)
            #expect(origin.requestCount(path: "/covers/2.jpg") == 2)
            #expect(origin.peakInFlight == 1)
        }
    }

    @Test("sees how many requests are in flight at once")
    func inFlight() async throws {
        try await withOrigin { origin in
            let port = origin.port
            let wires = try await onThread {
                try (0..<8).map { number in
                    let wire = try Wire(port: port)
                    try wire.send(request("/covers/\(number).jpg?fault=never"))
                    return wire
                }
            }
            while origin.requestCount < wires.count { await Task.yield() }
            #expect(origin.peakInFlight == 8)
            #expect(origin.connectionCount == 8)
        }
    }

    @Test("stops without waiting for what its clients wait for, and all of them notice")
    func stopping() async throws {
        let origin = try await Origin.start()
        let port = origin.port
        let targets = ["fault=never", "delay=60000", "fault=endless", "rate=10", "chunked=1"]
        let clients = targets.map { query in
            Task {
                try await onThread {
                    let wire = try Wire(port: port)
                    try wire.send(request("/covers/1.jpg?\(query)"))
                    return try wire.drain().ending
                }
            }
        }
        while origin.requestCount < targets.count { await Task.yield() }
        let elapsed = await ContinuousClock().measure { await origin.stop() }
        #expect(elapsed < .seconds(30), "its clients would wait for a minute")
        for client in clients { #expect(try await client.value != .complete) }
        await #expect(throws: Wire.Failure.self) { try await onThread { _ = try Wire(port: port) } }
        await origin.stop()
    }

    @Test("may stop while clients are connecting")
    func stoppingEarly() async throws {
        let queries = ["", "?delay=60000", "?fault=never", "?fault=endless", "?fault=reset"]
        for round in 0..<30 {
            let origin = try await Origin.start()
            let port = origin.port
            let clients = queries.map { query in
                Task {
                    try await onThread {
                        // Whether a client gets through, and what it gets, is left to chance; that all ends is not.
                        for _ in 0..<8 { try Wire(port: port).send(request("/covers/1.jpg\(query)")) }
                    }
                }
            }
            while origin.connectionCount < round % 10 { await Task.yield() }
            await origin.stop()
            #expect(origin.openConnectionCount == 0)
            for client in clients { _ = await client.result }
        }
    }

    @Test("forgets a request that is never answered when its client goes away")
    func hangUp() async throws {
        try await withOrigin { origin in
            let port = origin.port
            var wire: Wire? = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/1.jpg?fault=never"))
                return wire
            }
            while origin.requestCount < 1 { await Task.yield() }
            #expect(origin.openConnectionCount == 1)
            _ = wire.take()
            while origin.openConnectionCount > 0 { await Task.yield() }
        }
    }

    @Test("says which address it cannot listen on")
    func taken() async throws {
        try await withOrigin { origin in
            var options = OriginOptions()
            options.port = origin.port
            let error = await #expect(throws: OriginError.self) { try await Origin.start(options) }
            #expect(error?.description.contains("cannot listen on 127.0.0.1:\(origin.port)") == true)
        }
    }
}
