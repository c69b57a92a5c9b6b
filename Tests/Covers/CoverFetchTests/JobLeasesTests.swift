import CurlHTTP
import HTTPTypes
import Synchronization
import Testing

@testable import CoverFetch

@Suite struct JobLeasesTests {
    private let now = ContinuousClock.now

    @Test func `while no other process stores anything, a job starts with its lease and is not looked up`() {
        let table = FakeLeases()
        var leases = JobLeases(table, timeout: .seconds(60))
        #expect(leases.admit(job(1), "a", now: now) == .start)
        #expect(table.held == ["a"])
        #expect(leases.jobsToLookUp(now: now + .seconds(10)).isEmpty && leases.deadline == nil)
        leases.end(job(1))
        #expect(table.held.isEmpty)
    }

    @Test func `the lease of a job whose download is handed over stays with the download`() {
        let table = FakeLeases()
        var leases = JobLeases(table, timeout: .seconds(60))
        #expect(leases.admit(job(1), "a", now: now) == .start)
        let lease = leases.handOver(job(1))
        leases.end(job(1))
        #expect(lease != nil && table.held == ["a"])
        let pending = PendingStores(table)
        pending.add("http://a.example/1", [], SentRequest(), lease: lease)
        _ = pending.complete([CoverOutcome(.downloaded, url: "http://a.example/1")])
        #expect(table.held.isEmpty)
    }

    @Test func `jobs whose leases others hold are looked up together after 200 ms, and then ask again`() {
        let table = FakeLeases()
        table.foreign = ["a", "b"]
        var leases = JobLeases(table, timeout: .seconds(60))
        #expect(leases.admit(job(1), "a", now: now) == .wait)
        #expect(leases.admit(job(2), "b", now: now + .milliseconds(100)) == .wait)
        #expect(leases.admit(job(3), "c", now: now) == .start, "others go on")
        #expect(leases.deadline == now + JobLeases.interval)
        #expect(leases.jobsToLookUp(now: now + .milliseconds(199)).isEmpty)
        #expect(leases.jobsToLookUp(now: now + .milliseconds(200)) == [job(1), job(2)])
        leases.didLookUp()
        leases.isMissing(job(1))
        table.foreign = []
        #expect(leases.admit(job(1), "a", now: now + .milliseconds(201)) == .start)
        #expect(table.held == ["a", "c"])
    }

    @Test func `a job that has waited for the timeout starts without a lease, and so do its retries`() {
        let table = FakeLeases()
        table.foreign = ["a"]
        var leases = JobLeases(table, timeout: .seconds(2))
        #expect(leases.admit(job(1), "a", now: now) == .wait)
        #expect(leases.admit(job(1), "a", now: now + .milliseconds(1_999)) == .wait)
        #expect(leases.admit(job(1), "a", now: now + .seconds(2)) == .start)
        leases.release(job(1))
        #expect(leases.admit(job(1), "a", now: now + .seconds(3)) == .start)
        #expect(table.held.isEmpty)
    }

    @Test func `once another process has stored something, a job is looked up under its lease before it starts`() {
        let table = FakeLeases()
        table.hasForeignCommits = true
        var leases = JobLeases(table, timeout: .seconds(60))
        #expect(leases.admit(job(1), "a", now: now) == .wait)
        #expect(table.held == ["a"])
        #expect(leases.jobsToLookUp(now: now) == [job(1)])
        #expect(leases.admit(job(2), "b", now: now) == .stop, "one look-up at a time")
        leases.didLookUp()
        leases.isMissing(job(1))
        #expect(leases.admit(job(1), "a", now: now) == .start)
    }

    @Test func `a look-up takes few jobs: their leases are held until their hosts have room`() {
        let table = FakeLeases()
        table.hasForeignCommits = true
        var leases = JobLeases(table, timeout: .seconds(60))
        let admissions = (0..<100).map { leases.admit(job($0), "\($0)", now: now) }
        #expect(admissions.count { $0 == .wait } == JobLeases.maximumUnverified)
        #expect(admissions.last == .stop && table.held.count == JobLeases.maximumUnverified)
    }

    @Test func `a retried job gives its lease back and takes it again; the leases of cancelled jobs are released`() {
        let table = FakeLeases()
        var leases = JobLeases(table, timeout: .seconds(60))
        for number in 1...3 { #expect(leases.admit(job(number), "\(number)", now: now) == .start) }
        leases.release(job(1))
        #expect(table.held == ["2", "3"])
        #expect(leases.admit(job(1), "1", now: now) == .start)
        leases.endAll { $0 == job(2) }
        #expect(table.held == ["2"])
    }

    @Test func `a job that has to wait takes no place; it starts first when it is resumed`() throws {
        var queue = DownloadQueue<Int>(limits: FetchLimits(parallel: 2, perHost: 2, adapts: false))
        for number in 0..<4 { _ = queue.submit(try .init("http://127.0.0.1/\(number)"), request: number) }
        var waiting: [JobID] = []
        func started(_ decision: DownloadQueue<Int>.Decision) -> String? {
            if case .start(let start) = decision { start.url.string } else { nil }
        }
        let first = queue.next(now: now) { job in
            if job.requests == [0] { waiting.append(job.id) }
            return job.requests == [0] ? .wait : .start
        }
        #expect(started(first) == "http://127.0.0.1/1" && waiting.count == 1 && queue.inFlight == 1)
        #expect(started(queue.next(now: now) { _ in .stop }) == nil)
        queue.resume(waiting[0])
        #expect(started(queue.next(now: now)) == "http://127.0.0.1/0")
    }

    private func job(_ number: Int) -> JobID { JobID(slot: number, use: number) }
}

/// Leases of which a test says what other processes hold.
private final class FakeLeases: DownloadLeases {
    private struct State {
        var foreign: Set<String> = []
        var held: [Int: String] = [:]
        var count = 0
        var hasForeignCommits = false
    }
    private let state = Mutex(State())

    var foreign: Set<String> {
        get { state.withLock { $0.foreign } }
        set { state.withLock { $0.foreign = newValue } }
    }
    var hasForeignCommits: Bool {
        get { state.withLock { $0.hasForeignCommits } }
        set { state.withLock { $0.hasForeignCommits = newValue } }
    }
    var held: Set<String> { state.withLock { Set($0.held.values) } }

    func take(_ key: String) -> Int? {
        state.withLock { state in
            if state.foreign.contains(key) { return nil }
            state.count += 1
            state.held[state.count] = key
            return state.count
        }
    }

    func release(_ lease: Int) { state.withLock { $0.held[lease] = nil } }

    func stored(_ keys: [String]) async -> [CoverOutcome?] { keys.map { _ in nil } }
}
