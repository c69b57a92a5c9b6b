package import HTTPTypes

/// The rate limit that a host states: `RateLimit` (draft-ietf-httpapi-ratelimit-headers, of 2023 and of 2025), or the older
/// `RateLimit-Remaining` and `X-RateLimit-Remaining` with their `-Reset`, or Discogs' `X-Discogs-Ratelimit-Remaining`.
package struct RateLimit: Equatable {
    /// How many requests may be sent until the reset.
    package var remaining: Int
    /// From now: at most `longestReset`.
    package var reset: Duration

    /// A reset further away belongs to a quota that no run can wait for, such as a monthly one, or is stated in another unit. Then
    /// the host's answers show whether requests are left.
    private static let longestReset: Int64 = 60

    /// Nil if the fields do not state both in a form that is understood.
    /// - Parameter now: seconds since 1970.
    package init?(_ fields: HTTPFields, now: Int64) {
        // Nearly all responses state none, which one pass over the fields shows.
        guard fields.contains(where: { $0.name.canonicalName.utf8.count > 8 && Self.fieldNames.contains($0.name) })
        else {
            return nil
        }
        // The policy with the fewest requests left counts.
        let found = fields[values: .rateLimit].flatMap { Self.split($0[...], at: ",") }
        if let tightest = Self.policies(found).min(by: { $0.remaining < $1.remaining }) {
            self = tightest
            return
        }
        for (left, reset) in Self.pairs {
            guard let remaining = fields[left].flatMap({ Int($0) }), let text = fields[reset],
                let time = Int64(text) ?? HTTPDate.seconds(text, now: now)
            else { continue }
            self.init(remaining: remaining, seconds: Self.fromNow(time, now))
            return
        }
        guard let remaining = fields[.xDiscogsRateLimitRemaining].flatMap({ Int($0) }) else { return nil }
        self.init(remaining: remaining, seconds: Self.discogsWindow)
    }

    /// Discogs counts the requests of the last 60 seconds and states no reset.
    private static let discogsWindow: Int64 = 60

    /// The fields that state it.
    package static let fieldNames: [HTTPField.Name] =
        [.rateLimit, .xDiscogsRateLimitRemaining] + pairs.flatMap { [$0.0, $0.1] }

    /// Nil for a negative number, with which some hosts say that there is no limit.
    private init?(remaining: Int, seconds: Int64) {
        guard remaining >= 0, seconds <= Self.longestReset else { return nil }
        self.remaining = remaining
        reset = .seconds(max(0, seconds))
    }

    /// Some hosts count seconds from now, some seconds or milliseconds from 1970.
    private static func fromNow(_ time: Int64, _ now: Int64) -> Int64 {
        switch time {
        case 100_000_000_000...: time / 1_000 - now
        case 1_000_000_000...: time - now
        default: time
        }
    }

    private static let pairs: [(HTTPField.Name, HTTPField.Name)] = [
        (.rateLimitRemaining, .rateLimitReset), (.xRateLimitRemaining, .xRateLimitReset),
    ]

    /// Splits a structured field outside quoted strings, which name policies (RFC 9651 section 3.3.3).
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (parts, start): ([Substring], Substring.Index) = ([], text.startIndex)
        var (isQuoted, isEscaped) = (false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case separator where !isQuoted:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return parts + [text[start...]]
    }

    /// `"default";r=50;t=30` is a policy; the elements of `limit=100, remaining=50, reset=30` are one policy together.
    private static func policies(_ elements: [Substring]) -> [RateLimit] {
        let values = elements.map { element in
            split(element, at: ";").reduce(into: [String: Int64]()) { values, part in
                let halves = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " }.lowercased() }
                if halves.count == 2, let number = Int64(halves[1]) { values[halves[0]] = number }
            }
        }
        let all = values.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        if let remaining = all["remaining"], let reset = all["reset"] {
            return [RateLimit(remaining: Int(remaining), seconds: reset)].compactMap(\.self)
        }
        return values.compactMap { value in
            guard let remaining = value["r"], let reset = value["t"] else { return nil }
            return RateLimit(remaining: Int(remaining), seconds: reset)
        }
    }
}

extension HTTPField.Name {
    package static let rateLimit = HTTPField.Name("RateLimit")!
    package static let rateLimitRemaining = HTTPField.Name("RateLimit-Remaining")!
    package static let rateLimitReset = HTTPField.Name("RateLimit-Reset")!
    package static let xRateLimitRemaining = HTTPField.Name("X-RateLimit-Remaining")!
    package static let xRateLimitReset = HTTPField.Name("X-RateLimit-Reset")!
    package static let xDiscogsRateLimitRemaining = HTTPField.Name("X-Discogs-Ratelimit-Remaining")!
}
