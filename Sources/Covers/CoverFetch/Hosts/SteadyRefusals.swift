/// Whether a host refuses a part of all requests, however many are in flight. Fewer would not help then, and would only take longer.
///
/// The limit's own cuts are the test: a host that refuses what exceeds its capacity refuses less below 70 % of a limit than above. If the
/// share stays the same there, and is not what the growth of the limit costs by itself, it is *steady*: the limit comes back, and refusals
/// are no sign until their share doubles.
struct SteadyRefusals {
    /// What a refusal means for the limit.
    enum Verdict: Equatable {
        case cut
        case ignore
        /// The cuts were of no use.
        case restore(Double)
    }

    private struct Share {
        var all = 0.0
        var refused = 0.0
        var value: Double { all > 0 ? refused / all : 0 }

        mutating func count(isRefused: Bool) {
            all += 1
            if isRefused { refused += 1 }
            // Older requests count less.
            if all > 1_000 { (all, refused) = (all / 2, refused / 2) }
        }
    }

    /// A larger share is the sign of a host in trouble, whatever it depends on.
    private static let largestShare = 0.15
    /// Refusals that show a share.
    private static let enough = 8.0
    private static let lowerPart = 0.7

    /// The limit at the beginning of the test; 0 before the first refusal.
    private var level = 0.0
    /// The requests that ended while the limit was above `lowerPart` of the level, and below.
    private var above = Share()
    private var below = Share()
    /// Nil if none is known.
    private var steady: Share?
    /// Of the last hundred requests or so.
    private var recentShare = 0.0

    /// Counts the end of a request. - Parameter limit: the transfers that may be in flight.
    @discardableResult
    mutating func ended(isRefused: Bool, limit: Double) -> Verdict {
        if let share = steady?.value {
            recentShare += ((isRefused ? 1 : 0) - recentShare) / 100
            // What so few requests show varies.
            let most = min(2 * share, Self.largestShare) + 0.03
            if recentShare > 2 * most { self = Self() }
            if recentShare > most { return .cut }
            steady?.count(isRefused: isRefused)
            return .ignore
        }
        if level == 0, !isRefused { return .ignore }
        level = level == 0 ? limit : max(level, limit)
        if limit > Self.lowerPart * level {
            above.count(isRefused: isRefused)
            return .cut
        }
        below.count(isRefused: isRefused)
        let isShown = below.refused >= Self.enough
        // Twice as many refusals as that are due at the former share.
        if !isShown, below.all * above.value < 2 * Self.enough { return .cut }
        // Each growth beyond a host's capacity costs a refusal, and the limit grows by 2 / limit² of a cut with each answer.
        let isSteady =
            isShown && max(above.value, below.value) < Self.largestShare && below.value > 0.6 * above.value
            && below.value > 1.5 * 2 / (limit * limit)
        let (former, share) = (level, Share(all: above.all + below.all, refused: above.refused + below.refused))
        self = Self()
        guard isSteady else {
            level = limit
            return .cut
        }
        (steady, recentShare) = (share, share.value)
        return .restore(former)
    }
}
