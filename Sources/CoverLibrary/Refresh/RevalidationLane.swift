import CurlHTTP
import DequeModule
import Platform

/// Revalidations on their way past their hosts, many in a pipeline: what waits, and what is under way.
struct RevalidationLane {
    struct Host {
        /// Entries not asked for yet.
        var waiting: Deque<(batch: RevalidationBatch, numbers: Range<Int>)> = []
        var depth = PipelineDepth()
        /// How often a job was to make the server known, in vain.
        var scouts = 0
    }

    /// By the queue's numbers of hosts.
    var hosts: [Int: Host] = [:]
    /// The hosts something waits for; they take turns.
    private(set) var ring: Deque<Int> = []
    var underWay: [ObjectIdentifier: RevalidationRun] = [:]

    var isEmpty: Bool { ring.isEmpty }

    mutating func add(_ batch: RevalidationBatch, _ numbers: Range<Int>, host: Int, first: Bool = false) {
        if numbers.isEmpty { return }
        if hosts[host]?.waiting.isEmpty != false { ring.append(host) }
        if first {
            hosts[host, default: Host()].waiting.prepend((batch, numbers))
        } else {
            hosts[host, default: Host()].waiting.append((batch, numbers))
        }
    }

    /// The next entries of a host, at most so many, of one batch.
    mutating func take(_ count: Int, host: Int) -> (batch: RevalidationBatch, numbers: Range<Int>)? {
        guard let (batch, numbers) = hosts[host]?.waiting.popFirst() else { return nil }
        let taken = numbers.prefix(count)
        if taken.count < numbers.count {
            hosts[host]?.waiting.prepend((batch, numbers.dropFirst(count)))
        } else if hosts[host]?.waiting.isEmpty == true {
            ring.removeAll { $0 == host }
        }
        return (batch, taken)
    }

    /// The host whose turn is over comes last.
    mutating func turn() { if let first = ring.popFirst() { ring.append(first) } }

    /// Takes away what waits for `owner`. - Returns: what that was, and its host.
    mutating func remove(of owner: (ObjectIdentifier) -> Bool) -> [(host: Int, batch: RevalidationBatch, count: Int)] {
        var removed: [(Int, RevalidationBatch, Int)] = []
        for number in ring {
            hosts[number]?.waiting.removeAll { waiting in
                guard owner(waiting.batch.owner) else { return false }
                removed.append((number, waiting.batch, waiting.numbers.count))
                return true
            }
        }
        ring.removeAll { hosts[$0]?.waiting.isEmpty != false }
        return removed
    }
}

/// A pipeline under way, and who is told of it.
// because: touched on the event loop alone.
final class RevalidationRun: PipelineTaker, @unchecked Sendable {
    let batch: RevalidationBatch
    let host: Int
    let company: Int
    let pipeline: Pipeline
    /// So many of its requests go on as jobs.
    var adopted = 0
    /// Nobody waits for it any more.
    var isAbandoned = false
    let requestTime = WallClock.milliseconds()
    private weak var scheduler: DownloadScheduler?

    init(_ batch: RevalidationBatch, _ numbers: Range<Int>, host: Int, company: Int, of scheduler: DownloadScheduler) {
        self.batch = batch
        self.host = host
        self.company = company
        self.scheduler = scheduler
        pipeline = Pipeline(batch.requests, numbers)
    }

    func differs(_ pipeline: Pipeline, _ request: Int) -> PipelineDetour {
        // because: the closure runs at once, on this very thread.
        nonisolated(unsafe) var detour: PipelineDetour?
        scheduler?.assumeIsolated { detour = $0.adopt(request, of: self) }
        return detour ?? .unheard(batch.urls[request])
    }

    func ended(_ pipeline: Pipeline) { scheduler?.assumeIsolated { $0.ended(self) } }
}
