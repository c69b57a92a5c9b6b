import CoverCache
import HTTPCaching

/// A remembered 404 or 410: the URL is not requested again before it expires.
struct Absence: Sendable, Hashable {
    /// The HTTP status.
    var status: Int
    /// When it expires, in milliseconds since 1970.
    var until: Int64
    /// When the server answered, in milliseconds since 1970.
    var answeredAt: Int64

    init(status: Int, until: Int64, answeredAt: Int64) {
        (self.status, self.until, self.answeredAt) = (status, until, answeredAt)
    }

    /// Nil if the hint was recorded ahead of `now`, with a wrong clock.
    /// - Parameter now: milliseconds since 1970.
    init?(_ hint: Hint, at now: Int64) {
        let numbers = hint.value.split(separator: " ").map { Int64($0) }
        // Earlier versions recorded the status only.
        let answeredAt = numbers.count == 2 ? numbers[1] ?? .max : hint.until - NegativeCaching.maximumLifetime
        if answeredAt > now { return nil }
        self.init(status: numbers.first??.asStatus ?? 404, until: hint.until, answeredAt: answeredAt)
    }

    /// The change that records it.
    func change(of key: String) -> HintChange { .set(Hint(.absent, key, "\(status) \(answeredAt)", until: until)) }
}

extension Int64 {
    fileprivate var asStatus: Int? { (100...999).contains(self) ? Int(self) : nil }
}
