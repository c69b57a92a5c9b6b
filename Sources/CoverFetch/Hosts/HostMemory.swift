import Platform

/// What the next run should know about a host.
package struct HostMemory: Sendable, Hashable {
    package typealias Instant = ContinuousClock.Instant

    /// The concurrency that paid off.
    var pace: HostPace.Learnt?
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

    init(pace: HostPace.Learnt? = nil, restsUntil: Instant? = nil) {
        self.pace = pace
        self.restsUntil = restsUntil
    }

    /// Parses `text(at:)`: `19 below 20`, `closed until 1732233445000`, or `19 below 20; closed until 1732233445000`.
    package init(_ text: String, at now: Moment) {
        for part in text.split(separator: ";") {
            let words = part.split(separator: " ")
            if words.count == 3, words[0] == "closed" {
                guard let time = Int64(words[2]), time > now.milliseconds else { continue }
                restsUntil = now.instant + min(.milliseconds(time - now.milliseconds), Self.longestRest)
            } else if let learnt = HostPace.Learnt(String(part)) {
                pace = learnt
            }
        }
    }

    /// Nil if nothing is worth keeping.
    package func text(at now: Moment) -> String? {
        var parts = pace.map { [$0.text] } ?? []
        if let restsUntil, restsUntil > now.instant {
            let rest = Int64((restsUntil - now.instant) / .milliseconds(1))
            parts.append("closed until \(now.milliseconds + rest)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
