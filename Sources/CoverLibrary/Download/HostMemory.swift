import CoverCache
import Platform

/// What is worth knowing of a host in the next run.
struct HostMemory: Sendable, Hashable {
    typealias Instant = ContinuousClock.Instant

    /// How many transfers it is worth having in flight.
    var pace: HostPace.Learnt?
    /// It asked to be left alone until then (`Retry-After`, `RateLimit`).
    var restsUntil: Instant?

    /// So long a host is left alone for what it asked of an earlier run, at the most: a year is more likely a mistake.
    static let longestRest = Duration.seconds(86_400)
    /// How long it is kept, in milliseconds: 30 days.
    private static let patience: Int64 = 30 * 86_400_000

    /// One moment on both clocks: the one that runs on, and the one that outlives the process.
    struct Moment {
        var instant: Instant
        /// Since 1970.
        var milliseconds: Int64

        static var now: Moment { Moment(instant: .now, milliseconds: WallClock.milliseconds()) }
    }

    init(pace: HostPace.Learnt? = nil, restsUntil: Instant? = nil) {
        self.pace = pace
        self.restsUntil = restsUntil
    }

    /// `19 below 20`, `closed until 1732233445000`, or `19 below 20; closed until 1732233445000`.
    init(_ text: String, at now: Moment) {
        for part in text.split(separator: ";") {
            let words = part.split(separator: " ")
            if words.count == 3, words[0] == "closed" {
                guard let time = Int64(words[2]), time > now.milliseconds else { continue }
                restsUntil = now.instant + min(.milliseconds(time - now.milliseconds), Self.longestRest)
            } else if let known = HostPace.Learnt(String(part)) {
                pace = known
            }
        }
    }

    /// Nil: nothing is worth knowing.
    func text(at now: Moment) -> String? {
        var parts = pace.map { [$0.text] } ?? []
        if let restsUntil, restsUntil > now.instant {
            let rest = Int64((restsUntil - now.instant) / .milliseconds(1))
            parts.append("closed until \(now.milliseconds + rest)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// What remembers all of it, by origin.
    static func changes(_ hosts: [String: HostMemory], at now: Moment) -> [HintChange] {
        hosts.compactMap { origin, host in
            host.text(at: now).map { .set(Hint(.host, origin, $0, until: now.milliseconds + patience)) }
        }
    }
}
