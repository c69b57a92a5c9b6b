import Synchronization

/// Counts an origin's connections and requests.
final class OriginMetrics: Sendable {
    let connections = Counter()
    let requests = Counter()
    let inFlight = Counter()
    /// Requests answered 429 because of `OriginOptions.maximumInFlight`.
    let rejected = Counter()
    /// Requests by path; nil unless `OriginOptions.countPaths` is set.
    let paths: KeyedCounter?
    private let peak = Atomic(0)

    init(countPaths: Bool) { paths = countPaths ? KeyedCounter() : nil }

    var peakInFlight: Int { peak.load(ordering: .relaxed) }

    /// The counters as one JSON object, for benchmarks.
    var json: String {
        #"{"requests":\#(requests.value),"overruns":\#(rejected.value),"inFlight":\#(inFlight.value),"#
            + #""peakInFlight":\#(peakInFlight),"connections":\#(connections.value)}"#
    }

    /// Records the start of a request. Returns its number, from 1.
    func requestStarted(path: @autoclosure () -> String) -> Int {
        peak.max(inFlight.add(1), ordering: .relaxed)
        paths?.increment(path())
        return requests.add(1)
    }

    /// Records that a request's response is written or abandoned.
    func requestEnded() { inFlight.add(-1) }
}

/// A lock-free counter.
struct Counter: ~Copyable {
    private let atomic = Atomic(0)

    var value: Int { atomic.load(ordering: .relaxed) }

    /// Returns the new value.
    @discardableResult
    func add(_ count: Int) -> Int { atomic.add(count, ordering: .relaxed).newValue }
}
