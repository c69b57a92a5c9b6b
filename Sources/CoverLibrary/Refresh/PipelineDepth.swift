/// How many requests to a host go into one pipeline. They count for its pace one by one; a server that takes its time for each
/// answer is done sooner with many connections, and one that does not with few. What is better shows in the goodput.
struct PipelineDepth {
    typealias Instant = ContinuousClock.Instant

    private(set) var depth = 1
    private var isSettled = false
    /// It has just been raised.
    private var isTried = false
    /// The goodput at the depth before, in requests a second.
    private var before = 0.0
    private var requests = 0
    /// Sums over the requests of this round: those in flight, and seconds.
    private var company = 0
    private var time = 0.0
    private var since: Instant?

    /// A pipeline never takes more than this share of what may be in flight to the host.
    private static let connections = 8
    private static let deepest = 16
    /// So many requests, and so long, show how a depth does.
    private static let enough = 256
    private static let round = Duration.milliseconds(10)
    /// Twice the depth brings half the goodput where the server takes its time; what is above this is chance.
    private static let loss = 0.7

    /// - Parameter limit: how many may be in flight to the host.
    func length(limit: Int) -> Int { max(1, min(depth, limit / Self.connections)) }

    /// A pipeline was answered whole.
    /// - Parameters:
    ///   - company: how many were in flight to the host when it began, its own included.
    ///   - limit: how many might have been.
    mutating func answered(_ count: Int, company: Int, limit: Int, began: Instant, now: Instant) {
        guard !isSettled, count == depth, company * 2 > limit else { return }
        let start = since ?? now
        since = start
        // What began before this round says how the last one was.
        guard began >= start else { return }
        requests += count
        self.company += count * company
        time += Double(count) * (now - began).inSeconds
        guard requests >= Self.enough, now - start >= Self.round else { return }
        // By Little's law; counting answers over time would depend on how they bunch.
        let goodput = Double(self.company) / max(time, 1e-9)
        (requests, self.company, time, since) = (0, 0, 0, now)
        if isTried, goodput < before * Self.loss {
            depth /= 2
            isSettled = true
            return
        }
        (before, isTried) = (goodput, depth * 2 <= min(limit / Self.connections, Self.deepest))
        if isTried { depth *= 2 }
    }

    /// Something in one had changed: what is behind it waits until it is here.
    mutating func wasHeldUp() {
        depth = max(1, depth / 2)
        (requests, company, time, since, isTried) = (0, 0, 0, nil, false)
    }

    /// One was not answered whole, though nobody had said that it would not be.
    mutating func broke() {
        depth = 1
        isSettled = true
    }
}
