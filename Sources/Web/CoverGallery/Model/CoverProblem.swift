import AlbumLibrary
import CoverLibrary
import Platform

/// Why a cover cannot be shown.
struct CoverProblem: Sendable, Equatable {
    /// One or two sentences for users: what happened, and what to do.
    var reason: String
    /// The technical cause.
    var cause: String?

    /// The album names no address.
    static let noAddress = CoverProblem(reason: "No cover yet.")

    init(reason: String, cause: String? = nil) {
        self.reason = reason
        self.cause = cause
    }

    init(_ failure: CoverFailure) {
        reason = Self.reason(failure)
        cause =
            OwnPictures.isAddress(failure.url) || failure.kind == .badURL && failure.url.isEmpty ? nil : failure.detail
    }

    /// Adds the reason as a member called `name`, and the cause as `cause`.
    func add(to object: inout JSONObject, as name: String) {
        object.add(name, reason)
        if let cause { object.add("cause", Redaction.redact(cause)) }
    }

    private static func reason(_ failure: CoverFailure) -> String {
        if OwnPictures.isAddress(failure.url) {
            return "Your own picture is no longer there. Edit the album to choose it again."
        }
        let host = failure.failedHost ?? "the cover’s server"
        let sentence = sentence(failure, host)
        // A sentence that begins with a host name keeps it as it is.
        return sentence.hasPrefix("the ") ? "T" + sentence.dropFirst() : sentence
    }

    private static func sentence(_ failure: CoverFailure, _ host: String) -> String {
        switch failure.kind {
        case .badURL where failure.url.isEmpty: return noAddress.reason
        case .badURL: return "The cover’s address can’t be used. Edit the album to change it."
        case .nameResolution: return "Can’t find \(host). Check the address and your connection."
        case .notTried where failure.failedHost != nil && !failure.isHostUnreachable:
            return "\(host) asked for a pause. Try again later."
        case .connect, .notTried:
            return "Can’t reach \(host). "
                + (failure.isHostUnreachable ? "Sleeve tries again every few seconds." : "Try again later.")
        case .broken: return "\(host) broke the connection. Try again later."
        case .tls: return "Can’t connect to \(host) securely."
        case .timeout: return "\(host) takes too long to answer. Try again later."
        case .tooLarge: return "The picture is too large."
        case .truncated: return "The picture arrived incomplete. Try again."
        case .status: return status(failure.status ?? 0, host)
        case .notAnImage: return "What \(host) sent isn’t a picture. Edit the album to change the address."
        case .placeholder: return "\(host) no longer has this cover: it gives one picture in place of several."
        case .overQuota: return "\(host) takes no more requests for now. Try again later."
        case .tooManyRedirects: return "The cover’s address leads nowhere. Edit the album to change it."
        case .refusedAddress: return "Sleeve may not connect to the cover’s address."
        case .offline: return "Not in Sleeve’s cache, and Sleeve is offline."
        case .notStorable: return "\(host) doesn’t allow keeping this cover."
        case .cache: return "The cover could not be saved. Check the free disk space."
        case .outOfResources: return "Sleeve’s computer is out of memory or of file descriptors. Try again later."
        default: return "The cover could not be fetched. Try again."
        }
    }

    private static func status(_ status: Int, _ host: String) -> String {
        switch status {
        case 404, 410: "Not found at \(host) (\(status))."
        case 401, 403: "\(host) refuses access to this cover (\(status))."
        case 429: "\(host) takes no more requests for now (429). Try again later."
        case 500...: "\(host) has a problem (\(status)). Try again later."
        default: "\(host) answered \(status) instead of a cover."
        }
    }
}

/// The state of a cover on a page.
enum CoverState: Sendable {
    /// It is cached. Stale: it may have changed at its server since.
    case ready(CoverStatus)
    case waiting
    case failed(CoverProblem)

    init(_ cached: CoverStatus) {
        self = .ready(cached)
    }

    var json: String {
        jsonText {
            switch self {
            case .ready(let cached):
                $0.add("digest", cached.digest)
                if cached.isStale { $0.add("stale", true) }
                // What a page paints before it has the cover.
                if let color = cached.color { $0.add("color", color) }
            case .waiting: $0.add("waiting", true)
            case .failed(let problem): problem.add(to: &$0, as: "failure")
            }
        }
    }
}

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
