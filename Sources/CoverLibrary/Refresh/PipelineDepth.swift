/// How many requests to a host go into one pipeline. They count for its pace one by one; a server that takes its time for each
/// answer is done sooner with many connections, and one that does not with few. What is better shows in the goodput.
struct PipelineDepth {
    private var depth = 1
    private var isSettled = false
    /// It has just been raised.
    private var isTried = false
    /// Requests a second at the depth before.
    private var before = 0.0
    private var requests = 0
    private var flow = 0.0

    /// A pipeline never takes more than this share of what may be in flight to the host.
    private static let connections = 8
    private static let deepest = 16
    /// So many requests show how a depth does.
    private static let enough = 256

    /// - Parameter limit: how many may be in flight to the host.
    func length(limit: Int) -> Int { max(1, min(depth, limit / Self.connections)) }

    /// A pipeline was answered whole.
    /// - Parameters:
    ///   - company: how many were in flight to the host when it began, its own included.
    ///   - limit: how many might have been.
    mutating func answered(_ count: Int, company: Int, seconds: Double, limit: Int) {
        guard !isSettled, count == depth, company * 2 > limit else { return }
        requests += count
        // By Little's law.
        flow += Double(count * company) / max(seconds, 1e-6)
        guard requests >= Self.enough else { return }
        let goodput = flow / Double(requests)
        (requests, flow) = (0, 0)
        if isTried, goodput < before * 0.9 {
            depth /= 2
            isSettled = true
            return
        }
        (before, isTried) = (goodput, depth * 2 <= min(limit / Self.connections, Self.deepest))
        if isTried { depth *= 2 }
    }

    /// One was not answered whole, though nobody had said that it would not be.
    mutating func broke() {
        depth = 1
        isSettled = true
    }
}
