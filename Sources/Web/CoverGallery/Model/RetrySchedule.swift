import CoverLibrary
import Platform

/// Decides when covers that could not be downloaded are requested again.
///
/// A cover whose failure is temporary is retried with exponential backoff. While a host is unreachable, its covers are not retried one
/// by one: one of them is requested every two seconds, and the others follow when it arrives.
struct RetrySchedule {
    typealias Instant = ContinuousClock.Instant

    private struct Failure {
        var problem: CoverProblem
        var origin: String
        /// Nil: not before a user retries it, or its host is reachable again.
        var retryAt: Instant?
        var backoff: Duration
        var isHostUnreachable: Bool
    }

    private static let maximumFailures = 10_000
    private static let initialBackoff = Duration.seconds(5), maximumBackoff = Duration.seconds(300)
    /// An open page is to recover within 5 s.
    private static let probeInterval = Duration.seconds(2)

    /// By key.
    private var failures: [String: Failure] = [:]
    /// When one cover of an unreachable host is requested next, by origin.
    private var probes: [String: Instant] = [:]

    /// Why a cover is not requested now; nil if it may be.
    func problem(of key: String, at now: Instant = .now) -> CoverProblem? {
        guard let failure = failures[key] else { return nil }
        if let retryAt = failure.retryAt, retryAt <= now { return nil }
        return failure.problem
    }

    func hasFailed(_ key: String) -> Bool { failures[key] != nil }

    /// Whether a failed cover is to be retried now.
    func isDue(_ key: String, at now: Instant) -> Bool { failures[key]?.retryAt.map { $0 <= now } ?? false }

    /// Permits an immediate request.
    mutating func forget(_ key: String) { failures[key] = nil }

    /// Chooses one cover of each unreachable host to request now. - Parameter wanted: Keys, most wanted first.
    mutating func takeProbes(among wanted: [String], at now: Instant) -> [String] {
        probes.filter { $0.value <= now }.keys.compactMap { origin in
            let key = wanted.first { failures[$0]?.isHostUnreachable == true && failures[$0]?.origin == origin }
            if key != nil { probes[origin] = now + Self.probeInterval }
            return key
        }
    }

    /// - Returns: Whether its host was unreachable; its other covers may be requested now.
    mutating func didArrive(_ key: String, at now: Instant = .now) -> Bool {
        failures[key] = nil
        return !probes.isEmpty && hostDidAnswer(Self.origin(of: key), at: now)
    }

    /// - Parameter hasSeveralURLs: The failure may be another host's than that of the key.
    /// - Returns: Whether its host was unreachable and has answered; its other covers may be requested now.
    mutating func didFail(
        _ key: String, _ failure: CoverFailure, hasSeveralURLs: Bool, at now: Instant = .now
    ) -> Bool {
        if failures.count >= Self.maximumFailures { failures = [:] }
        let backoff = failures[key].map { min($0.backoff * 2, Self.maximumBackoff) } ?? Self.initialBackoff
        let origin = Self.origin(of: key)
        let isHostUnreachable = failure.isHostUnreachable && !hasSeveralURLs
        failures[key] = Failure(
            problem: CoverProblem(failure), origin: origin,
            retryAt: isHostUnreachable || !failure.isRetryable ? nil : now + backoff,
            backoff: isHostUnreachable ? Self.initialBackoff : backoff, isHostUnreachable: isHostUnreachable)
        if isHostUnreachable { probes[origin] = now + Self.probeInterval }
        return failure.kind == .status && !hasSeveralURLs && hostDidAnswer(origin, at: now)
    }

    private mutating func hostDidAnswer(_ origin: String, at now: Instant) -> Bool {
        guard probes.removeValue(forKey: origin) != nil else { return false }
        for (key, failure) in failures where failure.origin == origin {
            if failure.isHostUnreachable {
                failures[key] = nil
            } else if failure.retryAt != nil {
                failures[key]?.retryAt = now
            }
        }
        return true
    }

    /// Scheme, host and port of a key (RFC 6454).
    private static func origin(of key: String) -> String {
        guard let url = URLComponents(string: key) else { return key }
        return "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port.map(String.init) ?? "")"
    }
}
