import Synchronization
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(10))) struct ThreadExecutorTests {
    /// Counts on an executor's thread.
    private actor Counter {
        nonisolated let executor: ThreadExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private(set) var turns = 0
        private var count = 0

        init(_ executor: ThreadExecutor) { self.executor = executor }

        func increment() -> (count: Int, thread: UInt) {
            count += 1
            return (count, WorkThread.current)
        }

        var isIsolating: Bool? { executor.isIsolatingCurrentContext() }

        func countTurns() {
            // A turn may still run when the actor is gone.
            executor.onTurn { [weak self] _ in
                self?.assumeIsolated { $0.turns += 1 }
                return nil
            }
        }
    }

    /// Records its end.
    private final class Stopping: ThreadExecutor, @unchecked Sendable {
        let stops = Atomic(0)
        override func stop() { stops.add(1, ordering: .relaxed) }
    }

    @Test func `an actor's jobs run one after the other on one thread, which is no other's`() async {
        let counter = Counter(ThreadExecutor())
        let threads = await withTaskGroup(of: UInt.self) { group in
            for _ in 0..<1_000 { group.addTask { await counter.increment().thread } }
            return await group.reduce(into: Set<UInt>()) { $0.insert($1) }
        }
        #expect(threads.count == 1 && !threads.contains(WorkThread.current))
        #expect(await counter.increment().count == 1_001)
        counter.executor.shutdown()
    }

    @Test func `every turn after a job is announced`() async {
        let counter = Counter(ThreadExecutor())
        await counter.countTurns()
        let before = await counter.turns
        // By another task: the calls of one task in a row may be one job.
        await Task { _ = await counter.increment() }.value
        #expect(await counter.turns > before)
        counter.executor.shutdown()
    }

    @Test func `a job after the shutdown runs, and stop is called once`() async {
        let executor = Stopping()
        let counter = Counter(executor)
        _ = await counter.increment()
        executor.shutdown()
        executor.shutdown()
        for _ in 0..<10 { _ = await counter.increment() }
        #expect(await counter.increment().count == 12)
        #expect(executor.stops.load(ordering: .relaxed) == 1)
    }

    @Test func `a shutdown without a thread stops in the call`() {
        let executor = Stopping()
        executor.shutdown()
        #expect(executor.stops.load(ordering: .relaxed) == 1)
    }

    @Test func `only the thread is the executor's context`() async {
        let executor = ThreadExecutor()
        #expect(executor.isIsolatingCurrentContext() == false)
        let counter = Counter(executor)
        #expect(await counter.isIsolating == true)
        executor.shutdown()
    }
}
