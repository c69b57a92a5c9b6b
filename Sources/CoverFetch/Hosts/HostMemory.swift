import Platform

/// What the next run should know about a host.
package struct HostMemory: Sendable, Hashable {
    package typealias Instant = ContinuousClock.Instant

    /// The host speaks HTTP/2; nil if it has not answered.
    var http2: Bool?
    /// Transfers in flight that the host took.
    var limit: Int?
    /// The host rejected requests beyond `limit`.
    var hasRejected = false
    /// The host asked for a pause until then (`Retry-After`, `RateLimit`).
    var restsUntil: Instant?

    /// Longest rest that is carried over from an earlier run. A longer one is more likely a mistake.
    static let longestRest = Duration.seconds(86_400)

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

    /// Parses `text(at:)`, for example `h2; limit 100` or `h1; rejects beyond 19; closed until 1732233445000`.
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
            case ("closed", 3):
                guard let time = Int64(words[2]), time > now.milliseconds else { continue }
                restsUntil = now.instant + min(.milliseconds(time - now.milliseconds), Self.longestRest)
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
            parts.append("closed until \(now.milliseconds + rest)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
