import OriginServer
import Testing
import Wire

@Suite(.timeLimit(.minutes(10)))
struct OriginTests {
    @Test func `a cover is served at its URL`() async throws {
        try await withOrigin { origin in
            #expect(origin.coverURL(7) == "http://127.0.0.1:\(origin.port)/covers/7.jpg")
            let reply = try await origin.fetch("/covers/7.jpg")
            #expect(reply.status == 200)
            #expect(reply.body == CoverImage.jpeg(number: 7))
            #expect(reply.fields["content-type"] == "image/jpeg")
            #expect(reply.fields["cache-control"] == "public, max-age=86400")
            #expect(reply.fields["date"]?.hasSuffix(" GMT") == true)
        }
    }

    @Test func `PNGs and the help page are served`() async throws {
        try await withOrigin { origin in
            #expect(try await origin.fetch("/covers/7.png").body == CoverImage.png(number: 7))
            let help = try await origin.fetch("/")
            for fault in OriginFault.allCases { #expect(help.text.contains(fault.rawValue)) }
        }
    }

    @Test(arguments: [
        "/covers/x.jpg", "/covers/-1.jpg", "/covers/+1.jpg", "/covers/.jpg", "/covers/1.gif", "/covers/",
        "/starter/.jpg", "/starter/a%2Fb.jpg", "/covers/99999999999999999999.jpg", "/elsewhere",
    ])
    func `other paths get 404`(path: String) async throws {
        try await withOrigin { origin in
            let reply = try await origin.fetch(path)
            #expect(reply.status == 404)
        }
    }

    @Test func `HEAD gets the fields of GET and no body`() async throws {
        try await withOrigin { origin in
            let get = try await origin.fetch("/covers/3.jpg")
            var head = try await origin.fetch("/covers/3.jpg", method: "HEAD")
            head.fields["date"] = get.fields["date"]
            #expect(head.fields == get.fields)
            #expect(try await origin.fetch("/covers/3.jpg", method: "POST").status == 405)
        }
    }

    @Test func `a connection is reused, and connections and requests are counted`() async throws {
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

    @Test func `stopping closes connections whose responses are not complete`() async throws {
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
        try await eventually { origin.requestCount == targets.count }
        let elapsed = await ContinuousClock().measure { await origin.stop() }
        #expect(elapsed < .seconds(30), "the delayed response takes a minute")
        for client in clients { #expect(try await client.value != .complete) }
        await #expect(throws: Wire.Failure.self) { try await onThread { _ = try Wire(port: port) } }
        await origin.stop()
    }

    @Test func `an origin can stop while clients are connecting`() async throws {
        let queries = ["", "?delay=60000", "?fault=never", "?fault=endless", "?fault=reset"]
        for round in 0..<30 {
            let origin = try await Origin.start()
            let port = origin.port
            let clients = queries.map { query in
                Task {
                    try await onThread {
                        // It is undetermined which clients connect and what they receive, but every one must end.
                        for _ in 0..<8 { try Wire(port: port).send(request("/covers/1.jpg\(query)")) }
                    }
                }
            }
            try await eventually { origin.connectionCount >= round % 10 }
            await origin.stop()
            #expect(origin.openConnectionCount == 0)
            for client in clients { _ = await client.result }
        }
    }

    @Test func `the peak of requests in flight is counted, and a request ends when its client disconnects`()
        async throws
    {
        try await withOrigin { origin in
            let port = origin.port
            var wires: [Wire]? = try await onThread {
                try (0..<8).map { number in
                    let wire = try Wire(port: port)
                    try wire.send(request("/covers/\(number).jpg?fault=never"))
                    return wire
                }
            }
            try await eventually { origin.requestCount == 8 }
            #expect(origin.peakInFlight == 8 && origin.connectionCount == 8 && origin.openConnectionCount == 8)
            _ = wires.take()
            try await eventually { origin.openConnectionCount == 0 }
        }
    }

    @Test func `the error names the address that is in use`() async throws {
        try await withOrigin { origin in
            var options = OriginOptions()
            options.port = origin.port
            let error = await #expect(throws: OriginError.self) { try await Origin.start(options) }
            #expect(error?.description.contains("cannot listen on 127.0.0.1:\(origin.port)") == true)
        }
    }
}
