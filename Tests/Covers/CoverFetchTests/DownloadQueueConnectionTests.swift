import CurlHTTP
import Testing

@testable import CoverFetch

@Suite struct DownloadQueueConnectionTests {
    private typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now

    private func queue(parallel: Int = 100, perHost: Int) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost))
    }

    private func secure(_ path: Int) throws -> HTTPURL { try HTTPURL("https://a.example/\(path)") }
    private func named(_ path: Int) throws -> HTTPURL { try HTTPURL("http://covers.example/\(path)") }

    /// 300 covers of one host, for which two transfers open connections.
    private func connectingQueue(adapts: Bool = false) throws -> Queue {
        var queue = Queue(limits: FetchLimits(parallel: 400, perHost: 32, adapts: adapts))
        for path in 1...300 { _ = try queue.submit(secure(path), request: "") }
        #expect(starts(&queue).count == 2)
        #expect(try queue.mayConnect(secure(1).string, others: 0) && queue.mayConnect(secure(2).string, others: 1))
        return queue
    }

    /// As `connectingQueue`. Both connections are ready, and the host has answered over HTTP/2.
    private func connectedQueue(adapts: Bool = false) throws -> Queue {
        var queue = try connectingQueue(adapts: adapts)
        for path in 1...2 { _ = queue.didConnect(try secure(path).string, .ready) }
        queue.didAnswer(try secure(1).string, http2: true)
        return queue
    }

    /// The keys of the jobs that start now.
    private func starts(_ queue: inout Queue) -> [String] {
        let turn = queue.turn(startTime)
        #expect(turn.dropped.isEmpty)
        return turn.started
    }

    @Test func `over cleartext the transfers of a new host start once its name is resolved`() throws {
        var queue = queue(perHost: 3)
        for path in 1...6 { _ = try queue.submit(named(path), request: "") }
        #expect(try starts(&queue) == [named(1).string])
        #expect(try queue.didConnect(named(1).string, .opening(others: 0)))
        #expect(try starts(&queue) == (2...3).map { try named($0).string })
        #expect(try !queue.didConnect(named(2).string, .opening(others: 0)))
    }

    @Test func `over TLS the transfers of a new host start once its protocol is negotiated, before the first answer`()
        throws
    {
        var queue = queue(perHost: 3)
        for path in 1...6 { _ = try queue.submit(secure(path), request: "") }
        #expect(try starts(&queue) == [secure(1).string])
        #expect(try queue.mayConnect(secure(1).string, others: 0))
        #expect(try !queue.didConnect(secure(1).string, .opening(others: 0)) && starts(&queue).isEmpty)
        #expect(try queue.didConnect(secure(1).string, .ready))
        #expect(try starts(&queue) == (2...3).map { try secure($0).string })
    }

    @Test
    func
        `an HTTP/2 host gets 100 streams and two connections at most: what needs a third one waits until a stream is free`()
        throws
    {
        var queue = try connectedQueue()
        #expect(starts(&queue).count == 98)
        // Both carry 45.
        for path in 3...90 { _ = queue.didConnect(try secure(path).string, .ready) }
        let refused = try (91...100).map { try secure($0).string }
        let allowed = refused.filter { queue.mayConnect($0, others: 2) }
        #expect(allowed.isEmpty && queue.inFlight == 90)
        // Their transfers have not ended yet.
        _ = try queue.submit(secure(100), request: "", priority: .immediate)
        #expect(starts(&queue).isEmpty)
        for key in refused { queue.refusedTransferEnded(key) }
        #expect(starts(&queue).isEmpty)
        _ = queue.end(try secure(3).string)
        #expect(starts(&queue) == [refused[9]])
    }

    @Test
    func `a host speaks HTTP/2 if transfers share a connection before its first answer: it gets no third connection`()
        throws
    {
        var queue = try connectingQueue()
        for path in 1...2 { _ = queue.didConnect(try secure(path).string, .ready) }
        for key in starts(&queue) { _ = queue.didConnect(key, .ready) }
        // Both connections break, and libcurl repeats the requests.
        #expect(try queue.mayConnect(secure(3).string, others: 0) && queue.mayConnect(secure(4).string, others: 1))
        #expect(try !queue.mayConnect(secure(5).string, others: 2))
    }

    @Test
    func `once a connection that the server has closed is replaced, an HTTP/2 host gets as many streams as before`()
        throws
    {
        var queue = try connectedQueue()
        for key in starts(&queue) { _ = queue.didConnect(key, .ready) }
        // One takes no more streams.
        for path in 1...10 { _ = queue.end(try secure(path).string) }
        let refused = starts(&queue).filter { !queue.mayConnect($0, others: 2) }
        for key in refused { queue.refusedTransferEnded(key) }
        #expect(refused.count == 10 && starts(&queue).isEmpty)
        // It is closed.
        for path in 11...50 { _ = queue.end(try secure(path).string) }
        let next = starts(&queue)
        #expect(next.count == 40)
        #expect(try queue.mayConnect(secure(101).string, others: 1))
        #expect(try queue.didConnect(secure(101).string, .ready))
        #expect(starts(&queue).count == 10)
    }

    @Test func `a second connection that cannot be opened costs no cover: the first one carries all`() throws {
        var queue = try connectingQueue()
        #expect(try queue.resumesAsOneTooMany(secure(2).string, now: startTime) && starts(&queue).isEmpty)
        #expect(try queue.didConnect(secure(1).string, .ready))
        let streams = queue.turn(startTime).starts.map(\.request.streams)
        #expect(streams.count == 31 && streams.last == 32)
        #expect(try !queue.mayConnect(secure(2).string, others: 1))
        queue.didAnswer(try secure(1).string, http2: true)
        #expect(try !queue.mayConnect(secure(3).string, others: 1))
        // There is no other connection.
        for path in 1...32 where path != 4 { _ = queue.end(try secure(path).string) }
        #expect(
            try queue.mayConnect(secure(4).string, others: 1)
                && !queue.resumesAsOneTooMany(secure(4).string, now: startTime))
    }

    @Test func `a host that refuses streams costs no cover a retry, and gets as many as it takes`() throws {
        var queue = try connectedQueue(adapts: true)
        let keys = starts(&queue)
        for key in keys { _ = queue.didConnect(key, .ready) }
        // Requests that were refused are sent again over a new connection, which takes none either.
        let refused = keys.dropFirst(3)
        let isRepeated = refused.map { queue.resend($0, retries: 0) }
        let isPutOff = refused.map { !queue.resend($0, retries: 0) && queue.resumesAsOneTooMany($0, now: startTime) }
        #expect(isRepeated.count > 3 && (isRepeated + isPutOff).allSatisfy { $0 })
        let (attempts, started) = (refused.map { queue.attempts($0) }, starts(&queue))
        #expect(attempts.max() == 0 && started.isEmpty)
        _ = queue.end(keys[0])
        #expect(starts(&queue).count == 1)
    }

    @Test func `streams that a closing connection refuses are no sign of too many`() throws {
        var queue = try connectedQueue(adapts: true)
        let keys = starts(&queue)
        for key in keys.dropFirst() { _ = queue.didConnect(key, .ready) }
        // In place of the connection that the server closes.
        let mayOpen = queue.mayConnect(keys[0], others: 1)
        let refused = keys.dropFirst(3)
        let isRepeated = refused.map { queue.resend($0, retries: 0) }
        let isPutOff = refused.map { !queue.resend($0, retries: 0) && queue.resumesAsOneTooMany($0, now: startTime) }
        let started = starts(&queue)
        #expect(mayOpen && isRepeated.count > 3 && (isRepeated + isPutOff).allSatisfy { $0 })
        #expect(started.count == refused.count)
    }

    @Test func `a host that ends the only request again and again is asked as often as retries allow`() throws {
        var queue = queue(parallel: 100, perHost: 8)
        let key = try secure(1).string
        _ = try queue.submit(secure(1), request: "")
        _ = starts(&queue)
        queue.didAnswer(key, http2: true)
        #expect(queue.resend(key, retries: 1) && queue.resend(key, retries: 1))
        #expect(
            !queue.resend(key, retries: 1) && !queue.resumesAsOneTooMany(key, now: startTime)
                && queue.attempts(key) == 1)
    }

    @Test
    func `a cover whose connection is not ready when its host has nothing else to do is requested over the other one`()
        throws
    {
        var queue = try connectingQueue()
        #expect(try !queue.didConnect(secure(1).string, .ready))
        queue.didAnswer(try secure(1).string, http2: true)
        queue.didReceive(.answered, of: try secure(1).string, now: startTime)
        _ = queue.end(try secure(1).string)
        while queue.count > 1 {
            for key in starts(&queue) {
                _ = queue.didConnect(key, .ready)
                _ = queue.end(key)
            }
        }
        guard case .restart = queue.next(now: startTime) else { throw NoRestart() }
        #expect(try starts(&queue) == [secure(2).string])
    }

    @Test func `two covers for which the open connections have no room do not send each other back to them`() throws {
        var queue = queue(perHost: 8)
        for path in 1...3 { _ = try queue.submit(secure(path), request: "") }
        _ = starts(&queue)
        queue.didAnswer(try secure(1).string, http2: true)
        _ = queue.end(try secure(1).string)
        let keys = starts(&queue)
        let mayConnect = keys.map { queue.mayConnect($0, others: 2) }
        #expect(mayConnect == [false, true])
        queue.refusedTransferEnded(keys[0])
        #expect(starts(&queue).isEmpty)
        _ = queue.end(keys[1])
        #expect(starts(&queue) == [keys[0]])
    }

    @Test func `a cover whose connection is not ready is put back eight times at most`() throws {
        var queue = queue(perHost: 8)
        for path in 1...2 { _ = try queue.submit(secure(path), request: "") }
        _ = starts(&queue)
        let isReady = try queue.mayConnect(secure(1).string, others: 0) && queue.didConnect(secure(1).string, .ready)
        queue.didAnswer(try secure(1).string, http2: true)
        #expect(try isReady && starts(&queue) == [secure(2).string])
        _ = queue.end(try secure(1).string)
        var restarts = 0
        while case .restart = queue.next(now: startTime) {
            restarts += 1
            let path = restarts + 2
            _ = try queue.submit(secure(path), request: "")
            _ = starts(&queue)
            _ = queue.didConnect(try secure(path).string, .ready)
            _ = queue.end(try secure(path).string)
        }
        #expect(restarts == 8)
    }

    @Test
    func `a host that refuses a second connection and speaks HTTP/1.1 gets one for each transfer once it answers`()
        throws
    {
        var queue = try connectingQueue()
        #expect(try !queue.didConnect(secure(1).string, .ready))
        #expect(try queue.resumesAsOneTooMany(secure(2).string, now: startTime))
        let refused = starts(&queue).filter { !queue.mayConnect($0, others: 1) }
        #expect(refused.count == 31)
        for key in refused { queue.refusedTransferEnded(key) }
        queue.didAnswer(try secure(1).string, http2: false)
        _ = queue.end(try secure(1).string)
        #expect(starts(&queue).count == 32)
    }

    @Test func `the only transfer of an HTTP/2 host opens a connection, however many are open: those take no request`()
        throws
    {
        var queue = queue(parallel: 100, perHost: 8)
        for path in 1...2 { _ = try queue.submit(secure(path), request: "") }
        _ = starts(&queue)
        queue.didAnswer(try secure(1).string, http2: true)
        #expect(try queue.mayConnect(secure(1).string, others: 2))
    }

    @Test(arguments: [17, 18])
    func `over TLS a host opens a second connection at once if more covers wait than the first one takes`(covers: Int)
        throws
    {
        var queue = queue(parallel: 100, perHost: 32)
        for path in 1..<covers { _ = try queue.submit(secure(path), request: "") }
        #expect(starts(&queue).count == covers - 16)
    }

    @Test func `a host with one connection may open a second one for more streams than the first one takes`() throws {
        var queue = queue(parallel: 100, perHost: 8)
        _ = try queue.submit(secure(1), request: "")
        #expect(starts(&queue).count == 1)
        #expect(try queue.didConnect(secure(1).string, .ready))
        queue.didAnswer(try secure(1).string, http2: true)
        _ = queue.end(try secure(1).string)
        for path in 2...300 { _ = try queue.submit(secure(path), request: "") }
        let streams = queue.turn(startTime).starts.map(\.request.streams)
        #expect(streams.count == 100 && streams[31] == 16 && streams[99] == 50)
        #expect(try queue.mayConnect(secure(60).string, others: 1))
        for path in 2...101 { _ = queue.end(try secure(path).string) }
        #expect(starts(&queue).count == 100)
    }
}

private struct NoRestart: Error {}
