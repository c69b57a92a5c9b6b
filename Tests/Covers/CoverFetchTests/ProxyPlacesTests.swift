import CurlHTTP
import Testing

@testable import CoverFetch

/// Hosts behind a proxy share its places and its troubles, and nothing else.
@Suite struct ProxyPlacesTests {
    typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now
    private let unreachable = {
        var failure = CoverFailure(.connect, url: "", detail: "connection refused")
        (failure.isConnectionRefused, failure.isOfProxy) = (true, true)
        return failure
    }()
    private let reset = CoverFailure(.broken, url: "", detail: "connection reset by peer")

    private func status(_ status: Int) -> CoverFailure { CoverFailure(.status, url: "", detail: "", status: status) }

    /// A queue with this many covers of each of twenty hosts, behind a proxy but for host 99.
    private func queue(covers: Int = 10, hosts: ClosedRange<Int> = 1...20, scheme: String = "http") throws -> Queue {
        var queue = Queue(limits: FetchLimits(parallel: 128, perHost: 64, adapts: true)) { url in
            url.host == "10.0.0.99" ? nil : Proxy(for: "http://a/") { $0 == "http_proxy" ? "p.test:3128" : nil }
        }
        for path in 1...covers {
            for host in hosts {
                let url = try HTTPURL("\(scheme)://10.0.0.\(host)/\(path)")
                _ = queue.submit(url, request: "")
            }
        }
        return queue
    }

    private func turn(_ queue: inout Queue, after seconds: Double = 0) -> Queue.Turn {
        queue.turn(startTime + .seconds(seconds))
    }

    /// Transfers start and get connections of their own.
    private func connect(_ queue: inout Queue, after seconds: Double = 0) -> [String] {
        let keys = turn(&queue, after: seconds).started
        for key in keys {
            _ = queue.mayConnect(key, others: 0)
            _ = queue.didConnect(key, .ready)
        }
        return keys
    }

    private func fail(
        _ queue: inout Queue, _ keys: some Sequence<String>, _ ending: Ending, _ failure: CoverFailure,
        after seconds: Double = 0
    ) {
        for key in keys {
            queue.didReceive(ending, of: key, failure: failure, now: startTime + .seconds(seconds))
            queue.retry(key, at: startTime + .seconds(seconds + 1))
        }
    }

    private func answer(_ queue: inout Queue, _ keys: some Sequence<String>, after seconds: Double = 0) {
        for key in keys {
            queue.didAnswer(key, http2: false)
            queue.didReceive(.answered, of: key, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    private func host(_ key: String) -> Substring? { key.split(separator: "/").dropFirst().first }

    @Test(arguments: [(Ending.broken, 0), (.overloaded, 503), (.erroneous, 502), (.erroneous, 504)])
    func `a proxy gets as many connections as it took, whatever host they are for`(
        ending: Ending, code: Int
    ) throws {
        var queue = try queue()
        let first = connect(&queue)
        #expect(first.count == 32 && Set(first.map(host)).count == 20)
        fail(&queue, first.dropFirst(4), ending, code == 0 ? reset : status(code))
        answer(&queue, first.prefix(4))
        for second in 1...3 {
            let next = connect(&queue, after: Double(second))
            #expect((4...6).contains(next.count))
            answer(&queue, next, after: Double(second))
        }
    }

    @Test func `behind a full proxy hosts take turns, and others are not held up`() throws {
        var queue = try queue(hosts: 1...20)
        let first = connect(&queue)
        fail(&queue, first.dropFirst(1), .broken, reset)
        for path in 1...4 { _ = try queue.submit(url(path, host: 99), request: "") }
        #expect(turn(&queue).started.count == 4)
        answer(&queue, first.prefix(1))
        var hosts: [Substring?] = []
        for second in 1...16 {
            let next = connect(&queue, after: Double(second) / 100)
            hosts += next.map(host)
            answer(&queue, next, after: Double(second) / 100)
        }
        #expect(hosts.count >= 16 && Set(hosts.prefix(15)).count == 15)
    }

    @Test func `a cover that someone waits for gets the next place of its proxy`() throws {
        var queue = try queue()
        let first = connect(&queue)
        fail(&queue, first.dropFirst(1), .broken, reset)
        #expect(turn(&queue).started.isEmpty)
        let wanted = try url(5, host: 20)
        _ = queue.submit(wanted, request: "", priority: .immediate)
        #expect(turn(&queue).started.isEmpty)
        answer(&queue, first.prefix(1))
        #expect(turn(&queue).started.first == wanted.string)
    }

    @Test func `no host is given up for a proxy that refuses connections for a while`() throws {
        var queue = try queue()
        for second in [0.0, 0.6] {
            fail(&queue, turn(&queue, after: second).started, .unreachable, unreachable, after: second)
        }
        let later = turn(&queue, after: 10)
        #expect(later.started.count == 1 && later.dropped.isEmpty, "one probe")
        answer(&queue, later.started, after: 10)
        #expect(Set(turn(&queue, after: 10).started.map(host)).count == 20)
    }

    @Test func `a proxy that is down ends all its hosts' covers, by its name, and no other's`() throws {
        var queue = try queue()
        var dropped: [String] = []
        var details: Set<String> = []
        for second in 0...6 {
            let turn = turn(&queue, after: Double(second))
            for key in turn.started {
                let time = startTime + .seconds(second)
                queue.didReceive(.unreachable, of: key, failure: unreachable, now: time)
                _ = queue.end(key)
            }
            dropped += turn.dropped
            details.formUnion(turn.details)
        }
        #expect(dropped.count > 150 && queue.count == 0)
        #expect(details.count == 1 && details.first?.hasPrefix("not tried: the proxy p.test:3128 refused ") == true)
        _ = try queue.submit(url(1, host: 99), request: "")
        #expect(turn(&queue, after: 6).started.count == 1)
    }

    @Test func `429 and a host that fails are the host's: the others keep their places`() throws {
        var queue = try queue(covers: 40)
        for second in 0...3 {
            let keys = connect(&queue, after: Double(second))
            let (bad, good) = (keys.filter { host($0) == "10.0.0.1" }, keys.filter { host($0) != "10.0.0.1" })
            answer(&queue, good, after: Double(second))
            fail(&queue, bad, .refused(pause: .seconds(30)), status(429), after: Double(second))
        }
        #expect(turn(&queue, after: 5).started.count >= 100)
    }

    @Test func `tunnels that fail a second time are their host's failures, and slow no other`() throws {
        var queue = try queue(covers: 100, hosts: 1...4, scheme: "https")
        var counts: [Int] = []
        for second in 0..<20 {
            let keys = turn(&queue, after: Double(second)).started
            counts.append(keys.count)
            for key in keys {
                _ = queue.mayConnect(key, others: 0)
                if host(key) != "10.0.0.1" { _ = queue.didConnect(key, .ready) }
            }
            fail(&queue, keys.filter { host($0) == "10.0.0.1" }, .broken, reset, after: Double(second) + 0.1)
            answer(&queue, keys.filter { host($0) != "10.0.0.1" }, after: Double(second) + 0.2)
        }
        #expect(counts.max() ?? 0 >= 60, "\(counts)")
    }

    @Test func `an attempt whose connection the proxy did not take is no retry`() throws {
        var queue = try queue()
        let first = turn(&queue).started
        for key in first { _ = queue.mayConnect(key, others: 0) }
        _ = queue.didConnect(first[0], .ready)
        fail(&queue, first.dropFirst(), .unreachable, unreachable)
        #expect(queue.attempts(first[1]) == 0)
    }
}
