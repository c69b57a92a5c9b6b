import Platform

/// The facts about a host that the next run uses.
package struct HostMemory: Sendable, Hashable {
    package typealias Instant = ContinuousClock.Instant

    /// The host speaks HTTP/2; nil if it has not answered.
    var http2: Bool?
    /// Transfers in flight that the host took.
    var limit: Int?
    /// The host rejected requests beyond `limit`.
    var hasRejected = false
    /// The host refused different requests, answered none, and asked for a pause until then (`Retry-After`).
    var restsUntil: Instant?

    /// One moment on the monotonic clock and on the wall clock, which outlives the process.
    package struct Moment {
        var instant: Instant
        /// Milliseconds since 1970.
        package var milliseconds: Int64

        package static var now: Moment { Moment(instant: .now, milliseconds: WallClock.milliseconds()) }
    }

    init(http2: Bool? = nil, limit: Int? = nil, hasRejected: Bool = false, restsUntil: Instant? = nil) {
        self.http2 = http2
        self.limit = limit
        self.hasRejected = hasRejected
        self.restsUntil = restsUntil
    }

    /// Parses `text(at:)`, for example `h2; limit 100` or `h1; rejects beyond 19; closed 60000 from 1732233445000`.
    package init(_ text: String, at now: Moment) {
        for part in text.split(separator: ";") {
            let words = part.split(separator: " ")
            switch (words.first, words.count) {
            case ("h1", 1): http2 = false
            case ("h2", 1): http2 = true
            case ("limit", 2), ("rejects", 3):
                guard let number = words.last.flatMap({ Int($0) }), number > 0 else { continue }
                limit = number
                hasRejected = words.count == 3
            case ("closed", 4):
                // A time ahead of now comes from a clock that was wrong: the pause is over.
                guard let length = Int64(words[1]), let start = Int64(words[3]), (0...now.milliseconds).contains(start)
                else { continue }
                let rest = min(.milliseconds(length), Breaker.longestRest) - .milliseconds(now.milliseconds - start)
                if rest > .zero { restsUntil = now.instant + rest }
            default: continue
            }
        }
    }

    /// Nil if nothing is worth keeping.
    package func text(at now: Moment) -> String? {
        var parts: [String] = []
        if let http2 { parts.append(http2 ? "h2" : "h1") }
        if let limit { parts.append(hasRejected ? "rejects beyond \(limit)" : "limit \(limit)") }
        if let restsUntil, restsUntil > now.instant {
            let rest = Int64((restsUntil - now.instant) / .milliseconds(1))
            parts.append("closed \(rest) from \(now.milliseconds)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
