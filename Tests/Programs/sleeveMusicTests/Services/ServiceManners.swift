import CoverSources

/// What clients do to the imitated services: counts, and violations of their documented limits.
struct ServiceManners: Sendable {
    struct Count: Sendable {
        var searches = 0
        var throttled = 0
        var inFlight = 0
        var peakInFlight = 0
        /// When the last searches came, the oldest first.
        var times: [ContinuousClock.Instant] = []
    }

    private var counts: [SourceName: Count] = [:]
    private(set) var violations: [String] = []
    /// Requests may come this much earlier: a busy machine holds up the one before. The rates to the millisecond are those of a test's clock, in
    /// SourceLimiterTests and SourceQueueTests.
    private static let tolerance = Duration.milliseconds(500)

    subscript(_ name: SourceName) -> Count { counts[name] ?? Count() }

    /// The limit of a service's searches.
    private static func limit(of name: SourceName) -> (requests: Int, time: Duration) {
        switch name {
        case .caa, .musicbrainz: (1, .seconds(1))
        case .itunes: (20, .seconds(60))
        default: (50, .seconds(5))
        }
    }

    /// A search begins.
    /// - Parameter throttled: each n-th gets no answer.
    /// - Returns: Whether it is answered.
    mutating func begin(_ name: SourceName, userAgent: String, throttled: Int?) -> Bool {
        var count = self[name]
        let now = ContinuousClock.now
        count.searches += 1
        count.inFlight += 1
        count.peakInFlight = max(count.peakInFlight, count.inFlight)
        count.times.append(now)
        var isAnswered = throttled.map { count.searches % $0 != 0 } ?? true
        if name == .musicbrainz {
            if count.inFlight > 1 { violations.append("\(name): \(count.inFlight) requests at a time") }
            if !userAgent.contains("@"), !userAgent.contains("://") { violations.append("\(name): no contact") }
        }
        let (requests, time) = Self.limit(of: name)
        if count.times.count > requests {
            let passed = now - count.times.removeFirst()
            if passed < time - Self.tolerance {
                violations.append("\(name): \(requests + 1) requests in \(passed), \(requests) in \(time) are allowed")
                isAnswered = false
            }
        }
        if !isAnswered { count.throttled += 1 }
        counts[name] = count
        return isAnswered
    }

    mutating func end(_ name: SourceName) { counts[name]?.inFlight -= 1 }
}
