import CoverCache
import Dispatch
import Logging
import Platform
import Synchronization
import Testing

@testable import CoverTier

/// A storage in memory that fails as it is told to.
private final class TestStorage: TierStorage {
    struct State {
        var covers: [TierKey: TierCover] = [:]
        /// What each call throws; nil if it succeeds.
        var failure: TierError?
        var calls = 0
        /// What the first checks throw.
        var checkFailures: [TierError] = []
    }

    let state = Mutex(State())

    private func call<Result>(_ body: (inout State) -> Result) throws(TierError) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, TierError> in
            state.calls += 1
            if let failure = state.failure { return .failure(failure) }
            return .success(body(&state))
        }
        return try result.get()
    }

    func check(isReadOnly: Bool) async throws(TierError) {
        if let failure = state.withLock({ $0.checkFailures.popLast() }) { throw failure }
    }
    func cover(for key: TierKey) async throws(TierError) -> TierCover? { try call { $0.covers[key] } }
    func put(_ cover: TierCover) async throws(TierError) { try call { $0.covers[cover.key] = cover } }
}

/// A tier in memory, whose clock advances when it sleeps.
private struct Stage {
    let storage = TestStorage()
    let tier: Tier
    let elapsed: @Sendable () -> Duration
    let messages: Messages

    final class Messages: LogHandler, Sendable {
        let lines = Mutex<[String]>([])
        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .notice }
            set {}
        }
        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.message)") }
        }
    }

    /// - Parameter slept: called after each sleep, with the time so far.
    init(slept: @escaping @Sendable (TestStorage, Duration) -> Void = { _, _ in }) {
        let clock = Clock()
        var time = Tier.Time()
        time.now = { clock.start + clock.elapsed.withLock { $0 } }
        time.sleep = { [storage] duration in
            slept(
                storage,
                clock.elapsed.withLock { elapsed in
                    elapsed += duration
                    return elapsed
                })
        }
        let messages = Messages()
        self.messages = messages
        elapsed = { clock.elapsed.withLock { $0 } }
        tier = Tier(
            storage, name: "/tier", isReadOnly: false, logger: Logger(label: "tier") { _ in messages }, time: time)
    }

    private final class Clock: Sendable {
        let start = ContinuousClock.now
        let elapsed = Mutex(Duration.zero)
    }

    static func cover(_ number: Int) -> TierCover {
        let body = [UInt8(truncatingIfNeeded: number)]
        return TierCover(
            EntryMetadata(key: "https://a.example/\(number).jpg", mediaType: "image/jpeg", storedAt: 1),
            Digest(of: body), body: body)
    }

    /// Whether a put succeeds.
    func puts(_ number: Int) async -> Bool {
        do throws(TierError) {
            try await tier.put(Self.cover(number))
            return true
        } catch {
            tier.didNotPut(error)
            return false
        }
    }
}

struct TierTests {
    @Test func `a tier that does not answer is left alone: reads are misses, puts wait for it and then fail at once`()
        async
    {
        let stage = Stage()
        #expect(await stage.puts(1))
        stage.storage.state.withLock { $0.failure = .unreachable("no route") }
        for number in [2, 102] { #expect(await !stage.puts(number)) }
        let calls = stage.storage.state.withLock { $0.calls }
        #expect(calls == 7, "three tries for each")
        for number in 0..<100 { #expect(await stage.tier.cover(for: "https://a.example/\(number).jpg") == nil) }
        #expect(stage.storage.state.withLock { $0.calls } - calls <= 2, "the third cover closes it")
        #expect(await !stage.puts(3))
        let patient = stage.elapsed()
        #expect(patient > .seconds(1) && patient < .seconds(60), "\(patient)")
        for number in 4..<100 { #expect(await !stage.puts(number)) }
        #expect(stage.elapsed() - patient < .seconds(35), "\(stage.elapsed()) after \(patient)")
        let statistics = stage.tier.statistics
        #expect(statistics.stored == 1 && statistics.failed == 99 && statistics.misses == 100)
        #expect(stage.messages.lines.withLock { $0.count } == 1)
    }

    @Test func `a tier that is busy at the start is asked again, as later; one that refuses is not`() async throws {
        let stage = Stage()
        stage.storage.state.withLock { $0.checkFailures = [.unreachable("500"), .unreachable("503 SlowDown")] }
        try await stage.tier.check()
        #expect(stage.elapsed() > .zero)
        let others: [[TierError]] = [[.refused("403")], Array(repeating: .unreachable("503"), count: 3)]
        for failures in others {
            stage.storage.state.withLock { $0.checkFailures = failures }
            await #expect(throws: failures[0]) { try await stage.tier.check() }
            #expect(stage.storage.state.withLock { $0.checkFailures.isEmpty })
        }
    }

    @Test func `a put that has waited for the tier is stored when it answers again`() async {
        let stage = Stage { storage, elapsed in
            if elapsed > .seconds(5) { storage.state.withLock { $0.failure = nil } }
        }
        stage.storage.state.withLock { $0.failure = .unreachable("restarting") }
        // These close the gate.
        for number in 2..<5 { _ = await stage.tier.cover(for: "https://a.example/\(number).jpg") }
        #expect(await stage.puts(1))
        #expect(await stage.tier.cover(for: "https://a.example/1.jpg")?.body == [1])
        let lines = stage.messages.lines.withLock { $0 }
        #expect(lines.count == 2 && lines.last?.contains("answers again") == true, "\(lines)")
    }

    @Test func `what is refused, damaged or full fails at once, is said once, and keeps nothing else away`() async {
        let stage = Stage()
        #expect(await stage.puts(1))
        for failure in [TierError.refused("403"), .damaged("cut"), .full("no space")] {
            stage.storage.state.withLock { $0.failure = failure }
            for _ in 0..<5 {
                #expect(await stage.tier.cover(for: "https://a.example/1.jpg") == nil)
                #expect(await !stage.puts(2))
            }
        }
        stage.storage.state.withLock { $0.failure = .unsuitable("too long a URL") }
        #expect(await !stage.puts(3))
        stage.storage.state.withLock { $0.failure = nil }
        #expect(await stage.tier.cover(for: "https://a.example/1.jpg") != nil)
        let statistics = stage.tier.statistics
        #expect(statistics.forbidden == 5 && statistics.damaged == 5 && statistics.misses == 15)
        #expect(statistics.hits == 1 && statistics.failed == 15 && statistics.unsuitable == 1)
        #expect(stage.elapsed() == .zero)
        #expect(stage.messages.lines.withLock { $0.count } == 2)
    }

    @Test func `a call that does not return ends with its limit, or with its task, and holds up no other`() async {
        let stuck = StuckDirectory()
        let directory = TierDirectory("/", limit: .milliseconds(50))
        for _ in 0..<3 {
            await #expect(throws: TierError.unreachable("no answer within 0.05 seconds")) {
                try await directory.onThread { () throws(TierError) in stuck.wait() }
            }
        }
        var answer: Int?
        // On a busy machine a thread may begin later than the limit.
        for _ in 0..<1_000 where answer == nil { answer = try? await directory.onThread { () throws(TierError) in 7 } }
        #expect(answer == 7)
        let patient = TierDirectory("/", limit: .seconds(60))
        let task = Task { () -> TierError? in
            do throws(TierError) {
                try await patient.onThread { () throws(TierError) in stuck.wait() }
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value == .unreachable("stopped"))
        stuck.open()
    }
}

/// Blocks callers until it is opened.
private final class StuckDirectory: Sendable {
    private let opened = DispatchSemaphore(value: 0)

    func wait() {
        opened.wait()
        // The next caller, too.
        opened.signal()
    }
    func open() { opened.signal() }
}
