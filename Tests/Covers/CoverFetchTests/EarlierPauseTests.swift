import CurlHTTP
import Testing

@testable import CoverFetch

/// Pauses that hosts asked earlier runs for.
@Suite struct EarlierPauseTests {
    private let now = ContinuousClock.now

    private func queue(_ seconds: Int) -> QueueDriver<String> {
        QueueDriver(
            limits: .init(parallel: 32, perHost: 8), pauses: ["http://10.0.0.1": now + .seconds(seconds)])
    }

    @Test func `a host that asked an earlier run for a minute gets no transfer until it is over`() throws {
        var queue = queue(60)
        _ = try queue.submit(url(1), request: "")
        let turn = queue.turn(now)
        #expect(turn.starts.isEmpty && turn.wait == now + .seconds(60))
        #expect(queue.turn(now + .seconds(60)).starts.count == 1)
    }

    @Test(arguments: [true, false])
    func `a host that asked an earlier run for an hour gets one request, whose end decides`(answers: Bool) throws {
        var queue = queue(3_600)
        #expect(queue.pauses.isEmpty, "a host without a request keeps what is remembered of it")
        for path in 1...9 { _ = try queue.submit(url(path), request: "") }
        let started = queue.turn(now).started
        let key = try #require(started.first)
        #expect(started.count == 1)
        #expect(queue.pauses == ["http://10.0.0.1": now + .seconds(3_600)])
        var failure = answers ? nil : CoverFailure(.status, url: "", detail: "", status: 429)
        failure?.retryAfter = .seconds(3_000)
        queue.didReceive(failure?.ending ?? .answered, of: key, failure: failure, now: now)
        _ = queue.end(key)
        #expect(queue.pauses == ["http://10.0.0.1": answers ? nil : now + .seconds(3_000)])
        let turn = queue.turn(now)
        #expect(turn.starts.isEmpty != answers && turn.dropped.isEmpty == answers)
        #expect(answers || turn.details.allSatisfy { $0 == "not tried: 10.0.0.1 asks to wait 3000 s" })
    }

    @Test func `a pause from an earlier run lasts a day at most`() throws {
        var queue = queue(365 * 86_400)
        _ = try queue.submit(url(1), request: "")
        _ = queue.turn(now)
        #expect(queue.pauses == ["http://10.0.0.1": now + .seconds(86_400)])
    }
}
