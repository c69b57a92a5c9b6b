import Platform
import Synchronization
import Testing

@testable import CoverSizes

struct SizeWorkersTests {
    private struct Failure: Error {}

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    private final class Shared<Value: Sendable>: Sendable {
        private let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
        var current: Value { value.withLock { $0 } }
        func change(_ body: (inout Value) -> Void) { value.withLock { body(&$0) } }
    }

    private struct Counts { var (running, most, jobs) = (0, 0, 0) }

    @Test func `callers of one key share a job, and none runs on more than two threads`() async throws {
        let workers = SizeWorkers<Int, Int>()
        let mayEnd = Flag()
        let counts = Shared(Counts())
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<200 {
                group.addTask {
                    try await workers.value(for: caller % 20, isUrgent: caller % 3 == 0) {
                        counts.change { counts in
                            counts.running += 1
                            counts.most = max(counts.most, counts.running)
                            counts.jobs += 1
                        }
                        // The first jobs run until all callers are there.
                        while !mayEnd.isSet { sched_yield() }
                        counts.change { $0.running -= 1 }
                        return caller % 20
                    }
                }
            }
            while workers.callers < 200 { await Task.yield() }
            mayEnd.set()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 200 && Set(results) == Set(0..<20))
        #expect(counts.current.most <= 2 && counts.current.jobs == 20)
    }

    @Test func `an urgent job precedes those that wait`() async throws {
        let workers = SizeWorkers<String, Void>(threads: 1)
        let order = Shared<[String]>([])
        let (isBusy, mayEnd) = (Flag(), Flag())
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await workers.value(for: "first") {
                    isBusy.set()
                    while !mayEnd.isSet { sched_yield() }
                }
            }
            while !isBusy.isSet { await Task.yield() }
            for name in ["ahead", "both"] {
                group.addTask {
                    try await workers.value(for: name, isUrgent: false) { order.change { $0.append(name) } }
                }
                while workers.waitingKeys.last != name { await Task.yield() }
            }
            group.addTask {
                try await workers.value(for: "both", isUrgent: true) { order.change { $0.append("both") } }
            }
            while workers.waitingKeys.first != "both" { await Task.yield() }
            mayEnd.set()
            try await group.waitForAll()
        }
        #expect(order.current == ["both", "ahead"])
    }

    @Test func `the oldest of many urgent jobs does not wait for all that come after it`() async throws {
        let workers = SizeWorkers<Int, Void>(threads: 1)
        let order = Shared<[Int]>([])
        let (isBusy, mayEnd) = (Flag(), Flag())
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await workers.value(for: 0) {
                    isBusy.set()
                    while !mayEnd.isSet { sched_yield() }
                }
            }
            while !isBusy.isSet { await Task.yield() }
            for number in 1...8 {
                group.addTask { try await workers.value(for: number) { order.change { $0.append(number) } } }
                while workers.waitingKeys.first != number { await Task.yield() }
            }
            mayEnd.set()
            try await group.waitForAll()
        }
        #expect(order.current == [8, 7, 1, 6, 5, 4, 2, 3])
    }

    @Test func `a failure reaches every caller, and the next call tries again`() async throws {
        let workers = SizeWorkers<Int, Int>()
        await #expect(throws: Failure.self) { try await workers.value(for: 1) { throw Failure() } }
        #expect(try await workers.value(for: 1) { 5 } == 5)
    }
}
