import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverFetch
@testable import CoverLibrary

/// How a library treats hosts, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct HostBehaviourTests {
    @Test func `every cover of a host arrives that refuses more than ten concurrent requests`() async throws {
        try await withStage {
            $0.retries = 100
        } origin: {
            $0.maximumInFlight = 10
        } _: { stage in
            let summary = try await stage.library.prefetch((1...300).map { stage.url($0, "delay=20&same=1") }).summary()
            #expect(summary.downloaded == 300, "\(summary)")
        }
    }

    @Test func `covers of an unreachable host fail together after a few attempts, and those of another host arrive`()
        async throws
    {
        try await withStage { stage in
            let dead = try await Origin.start()
            let urls = (1...200).map { dead.coverURL($0) }
            await dead.stop()
            let list = urls + (1...20).map { stage.url($0) }
            let (outcomes, summary) = try await stage.library.prefetch(list).collect()
            #expect(summary.failed == 200 && summary.downloaded == 20, "\(summary)")
            let host = dead.url.dropFirst("http://".count)
            let untried = outcomes.failureDetails.filter { $0.hasPrefix("not tried: \(host) refused ") }
            #expect(untried.count > 150)
            #expect(outcomes.failureDetails.contains("can't reach \(host): connection refused"))
        }
    }

    private static let failures = [
        "status=500", "status=503&retry-after=0", "status=429&retry-after=0", "fault=truncate", "fault=reset",
        "fault=close",
    ]
    /// Each failure with the bad covers at the end, and one with them in two more places. The probes of a host that seems to fail wait
    /// for seconds.
    private static let badCovers = failures.map { ($0, 140..<200) } + [(failures[0], 0..<60), (failures[4], 100..<160)]

    @Test(arguments: badCovers)
    func
        `every good cover of a host arrives in the first run, whatever the bad ones return and wherever the list has them`(
            query: String, bad: Range<Int>
        ) async throws
    {
        try await withStage {
            $0.retries = 1
            // A cover that times out on a loaded machine is one of the bad ones, and with three such probes its host is given up.
            $0.timeout = .seconds(600)
        } _: { stage in
            let urls = (0..<200).map { stage.url($0, (bad.contains($0) ? query + "&" : "") + "size=4000") }
            let (outcomes, summary) = try await stage.library.prefetch(urls).collect()
            #expect(summary.downloaded == 140 && summary.failed == 60, "\(summary)")
            // A host that answers 429 only is given up.
            if query.hasPrefix("status=429") { return }
            #expect(
                !outcomes.failureDetails.contains { $0.hasPrefix("not tried") }, "each cover fails for its own reason")
        }
    }

    @Test func `every cover of a host arrives that answers each URL with an error first`() async throws {
        try await withStage { stage in
            let summary = try await stage.library.prefetch(
                (0..<300).map { stage.url($0, "status=500&times=1&size=4000") }
            ).summary()
            #expect(summary.downloaded == 300, "\(summary)")
        }
    }

    @Test func `covers that were requested keep their own failures when their host is given up`() async throws {
        try await withStage { stage in
            let dead = try await Origin.start()
            let known = stage.url(1, "status=404")
            _ = await stage.library.failure(known)
            let urls = (1...50).map { dead.coverURL($0) }
            await dead.stop()
            let outcomes = try await stage.library.prefetch(urls + [known]).collect().outcomes
            let tried = outcomes.failureDetails.filter { !$0.hasPrefix("not tried: ") }
            #expect(tried.contains { $0.contains("404") })
            #expect(
                tried.count > 3 && tried.allSatisfy { $0.hasPrefix("can't reach ") || $0.contains("404") }, "\(tried)")
        }
    }

    @Test func `ignoring what is remembered probes a host that was given up, and a success ends its outage`()
        async throws
    {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let dead = try await Origin.start()
            let port = dead.port
            let urls = (1...60).map { dead.coverURL($0) }
            await dead.stop()
            #expect(try await stage.library.prefetch(urls).summary().failed == 60)
            #expect(await stage.library.failure(urls[0])?.kind == .notTried)
            var options = OriginOptions()
            options.port = port
            let back = try await Origin.start(options)
            let cover = try await stage.library.cover(at: urls[0], cachePolicy: .ignoreAbsence)
            #expect(cover.bytes == CoverImage.jpeg(number: 1))
            #expect(await stage.library.failure(urls[1]) == nil)
            await back.stop()
        }
    }

    /// Takes connections to the same port of the other loopback address, and answers none. Nil without IPv6.
    private func silentSocket(port: Int) -> Int32? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        address.sin6_addr = in6addr_loopback
        #if os(Linux)
            let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET6, SOCK_STREAM, 0)
        #endif
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
        if isBound, listen(descriptor, 64) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    @Test func `a host that takes connections over IPv6 and answers none is asked over IPv4`() async throws {
        try await withStage {
            $0.timeout = .seconds(1)
        } _: { stage in
            guard let silent = silentSocket(port: stage.origin.port) else { return }
            defer { close(silent) }
            let urls = (1...20).map { "http://localhost:\(stage.origin.port)/covers/\($0).jpg" }
            let summary = try await stage.library.prefetch(urls).summary()
            #expect(summary.downloaded == 20, "\(summary)")
            #expect(stage.origin.requestCount == 20)
        }
    }

    @Test func `a program can keep to one family of addresses`() async throws {
        for (family, isAnswered) in [(LibraryConfiguration.AddressFamily.ipv4, true), (.ipv6, false)] {
            try await withStage {
                ($0.timeout, $0.retries, $0.addressFamily) = (.seconds(1), 0, family)
            } _: { stage in
                let silent = silentSocket(port: stage.origin.port)
                defer { if let silent { close(silent) } }
                let failure = await stage.library.failure("http://localhost:\(stage.origin.port)/covers/1.jpg")
                #expect((failure == nil) == isAnswered, "\(failure as Any)")
            }
        }
    }

    @Test func `a cover that is not ready yet arrives in the same run, when its server says`() async throws {
        try await withStage { stage in
            let statuses = [403, 404, 409, 410, 423, 501]
            let urls = statuses.map { stage.url($0, "status=\($0)&times=1&retry-after=1") }
            let summary = try await stage.library.prefetch(urls).summary()
            #expect(summary.downloaded == statuses.count, "\(summary)")
            #expect(stage.origin.requestCount == 2 * statuses.count)
        }
    }

    @Test func `a 404 that asks for a longer pause than a run waits fails, and the next run asks again`() async throws {
        try await withStage { stage in
            let url = stage.url(1, "status=404&times=1&retry-after=600")
            let failure = try #require(await stage.library.failure(url))
            #expect(failure.detail.hasSuffix("it asks to wait 600 s, which is too long"), "\(failure)")
            #expect(failure.rememberedUntil == nil && stage.origin.requestCount == 1)
            _ = try await stage.library.cover(at: url)
        }
    }

    @Test(arguments: ["audio/mpeg", "image/jpeg"])
    func `of a long body that begins as no picture, whatever its type, little is read`(type: String) async throws {
        try await withStage { stage in
            let listener = try Listener(
                answer: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: 30000000\r\n\r\nID3",
                endless: String(repeating: "\0", count: 65_536))
            defer { listener.stop() }
            let failure = try #require(await stage.library.failure(listener.url + "/1.jpg"))
            #expect(failure.kind == .notAnImage && failure.detail.contains("unknown data"), "\(failure)")
            #expect(listener.sent < 24 << 20)
        }
    }

    /// Connection-specific fields, which HTTP/2 forbids: nginx passes on what a server behind it says.
    @Test(.enabled(if: Nginx.isInstalled), arguments: [false, true])
    func `RFC 9113 section 8.2.2: a host whose HTTP/2 is malformed is asked over HTTP/1.1, for the run`(
        answersFirst: Bool
    ) async throws {
        try await withStage { stage in
            let port = stage.origin.port
            let server = "add_header Upgrade h2c; \(Nginx.proxy(to: port)) location /none/ { return 404; }"
            try await Nginx.with(.http2, server: server) { nginx in
                await stage.library.close()
                let library = try await stage.another {
                    $0.certificateAuthorities = URL(filePath: nginx.certificate)
                }
                if answersFirst { #expect(await library.failure(nginx.url + "/none/1.jpg")?.status == 404) }
                let urls = (1...100).map { nginx.url + stage.url($0).dropFirst(stage.origin.url.count) }
                let summary = try await library.prefetch(urls).summary()
                #expect(summary.downloaded == 100, "\(summary)")
                await library.close()
            }
        }
    }

    @Test func `RFC 9110 section 15.5.20: a 421 is asked once more, over a new connection`() async throws {
        try await withStage { stage in
            let server = try ScriptedServer { request in
                request.connection == 0 || request.target == "/never.jpg"
                    ? httpResponse("421 Misdirected Request") : httpResponse("200 OK", [], CoverImage.jpeg(number: 1))
            }
            defer { server.stop() }
            let cover = try await stage.library.cover(at: server.url + "/1.jpg")
            #expect(cover.bytes == CoverImage.jpeg(number: 1))
            #expect(await stage.library.failure(server.url + "/never.jpg")?.status == 421)
            #expect(server.requests.map(\.target) == ["/1.jpg", "/1.jpg", "/never.jpg", "/never.jpg"])
            let connections = server.requests.map(\.connection)
            #expect(connections[0] != connections[1] && connections[2] != connections[3])
        }
    }

    @Test func `a 400 over a used connection is asked once more over a new one, as it may be about what was before`()
        async throws
    {
        try await withStage { stage in
            let server = try ScriptedServer { request in
                request.target != "/never.jpg" && (request.connection > 0 || request.target == "/1.jpg")
                    ? httpResponse("200 OK", [], CoverImage.jpeg(number: 1)) : httpResponse("400 Bad Request")
            }
            defer { server.stop() }
            for number in 1...2 { _ = try await stage.library.cover(at: server.url + "/\(number).jpg") }
            #expect(await stage.library.failure(server.url + "/never.jpg")?.status == 400)
            #expect(server.requests.map(\.target) == ["/1.jpg", "/2.jpg", "/2.jpg", "/never.jpg", "/never.jpg"])
            #expect(server.requests.map(\.connection).prefix(3) == [0, 0, 1])
        }
    }

    @Test(arguments: [429, 503])
    func `the Retry-After of one URL fails that URL and delays no other, in no run`(status: Int) async throws {
        try await withStage { stage in
            let bad = [
                stage.url(3, "status=\(status)&retry-after=3600"), stage.url(50, "status=\(status)&retry-after=600"),
            ]
            let (outcomes, summary) = try await stage.library.prefetch(bad + (100...200).map { stage.url($0) })
                .collect()
            #expect(summary.downloaded == 101 && summary.failed == 2, "\(summary)")
            #expect(outcomes.failureDetails.contains { $0.hasSuffix("it asks to wait 3600 s, which is too long") })
            await stage.library.close()
            let next = try await stage.another()
            #expect(await next.failure(stage.url(201)) == nil)
            #expect(next.covers.earlierPauses().isEmpty)
            await next.close()
        }
    }

    @Test func `a host that refuses all covers for an hour is given up after a few of them`() async throws {
        try await withStage { stage in
            let urls = (1...200).map { stage.url($0, "status=503&retry-after=3600") }
            let (outcomes, summary) = try await stage.library.prefetch(urls).collect()
            #expect(summary.failed == 200 && stage.origin.requestCount < 50, "\(stage.origin.requestCount) requests")
            #expect(outcomes.failureDetails.contains { $0.hasPrefix("not tried: ") && $0.contains(" asks to wait 3") })
        }
    }

    @Test func `a host that refused all covers gets one request in the next run, and all others once it answers one`()
        async throws
    {
        try await withStage { stage in
            let urls = (1...200).map { stage.url($0, "status=429&retry-after=3600") }
            _ = try await stage.library.prefetch(urls).summary()
            await stage.library.close()
            let count = stage.origin.requestCount
            let next = try await stage.another()
            let refused = try await next.prefetch(urls).summary()
            #expect(refused.failed == 200 && stage.origin.requestCount == count + 1)
            await next.close()
            let third = try await stage.another()
            let answered = try await third.prefetch((1...20).map { stage.url($0) }).summary()
            #expect(answered.downloaded == 20, "\(answered)")
            #expect(third.covers.earlierPauses().keys.contains(stage.origin.url))
            await third.close()
            let last = try await stage.another()
            #expect(last.covers.earlierPauses().isEmpty)
            await last.close()
        }
    }
}

extension [CoverOutcome] {
    fileprivate var failureDetails: [String] { compactMap(\.failure?.detail) }
}
