import HTTPCaching

/// The host's own count of the requests that it still accepts (`RateLimit` and its predecessors).
///
/// The latest answer counts: one without a count lifts the limit of those before. A host that states the same number with three
/// answers in a row does not count these requests, and its count is ignored until it refuses one.
struct Quota {
    typealias Instant = ContinuousClock.Instant

    private var remaining = Int.max
    private var resets: Instant?
    private var last: Int?
    private var repetitions = 0

    /// Answers in a row with the same number that refute it.
    private static let refutation = 3

    /// The host answered, if only that it has no such cover.
    /// - Parameters:
    ///   - limit: what the answer states; nil if nothing.
    ///   - uncounted: other requests in flight, which the host may not have counted yet.
    mutating func answered(_ limit: RateLimit?, uncounted: Int, now: Instant) {
        repetitions = limit != nil && limit?.remaining == last ? repetitions + 1 : 1
        last = limit?.remaining
        if let limit, repetitions < Self.refutation {
            (remaining, resets) = (max(0, limit.remaining - uncounted), now + limit.reset)
        } else {
            resets = nil
        }
    }

    /// The host refused a request: its count is to be believed.
    mutating func refused() { repetitions = 0 }

    mutating func start() { if resets != nil { remaining -= 1 } }

    /// The time before which no request is left; nil if one is.
    func closed(at now: Instant) -> Instant? { remaining > 0 ? nil : resets.flatMap { $0 > now ? $0 : nil } }
}
