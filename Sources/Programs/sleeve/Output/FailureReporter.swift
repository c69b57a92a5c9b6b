import CommandSupport
import CoverLibrary
import Platform
import Synchronization

/// Reports failures on stderr as they happen. A limited number is printed one by one; failures that concern a host are counted
/// by host and cause, and summarized at the end. The report file lists all of them.
final class FailureReporter: Sendable {
    fileprivate static let maximumPerGroup = 5
    fileprivate static let maximumGroups = 64
    private let list = MessageList()
    private let state = Mutex(State())

    fileprivate struct State {
        var byKind: [CoverFailure.Kind: Int] = [:]
        var hostFailures: [HostFailure: Int] = [:]
        /// Covers that were not requested, by host, with the host's problem.
        var notTried: [String: (count: Int, problem: String)] = [:]
        /// Covers that stay, by the picture that was given in place of them.
        var placeholders: [Digest: (host: String, count: Int, restored: Int)] = [:]
        /// The number of covers whose hosts could not be reached.
        var unreachable = 0
        /// The number of covers whose hosts responded.
        var answered = 0
    }

    fileprivate struct HostFailure: Hashable {
        var host: String
        /// A predicate, such as "timed out".
        var cause: String
    }

    /// The number of failures of each kind.
    var byKind: [CoverFailure.Kind: Int] { state.withLock { $0.byKind } }

    func record(_ outcome: CoverOutcome) {
        guard let failure = outcome.failure else {
            return state.withLock { if outcome.kind != .fresh { $0.answered += 1 } }
        }
        // The summary counts it, and the report lists it.
        if failure.isGone {
            if failure.isNewlyGone { warn(failure.message) }
            return
        }
        let isCounted = state.withLock { $0.count(failure) }
        if isCounted { return }
        // The detail of a skipped line names its file and line already.
        warn(outcome.kind == .skipped ? failure.detail : failure.advice)
    }

    /// Prints a warning unless the maximum number has been printed.
    func warn(_ text: String) { list.add(text) }

    /// Prints the summary of the failures that were not printed one by one, and a hint if no server could be reached.
    func summarize(hasReport: Bool) {
        let state = state.withLock { $0 }
        let hint = hasReport ? "the report lists them all" : "--report FILE lists them all"
        list.end("; \(hint)")
        let groups = state.hostFailures.filter { $0.value > Self.maximumPerGroup }
        for (group, count) in groups.sorted(by: { ($0.key.host, $0.key.cause) < ($1.key.host, $1.key.cause) }) {
            let covers = Decimals.count(count - Self.maximumPerGroup, "more cover")
            Log.warning("\(group.host): \(covers) \(group.cause); \(hint)")
        }
        for (_, host) in state.notTried.sorted(by: { $0.key < $1.key }) {
            Log.warning("\(Decimals.grouped(host.count)) not tried: \(host.problem)")
        }
        for (_, picture) in state.placeholders.sorted(by: { $0.value.host < $1.value.host }) {
            let back = picture.restored > 0 ? ", \(Decimals.count(picture.restored, "other")) put back" : ""
            let reason = "it now gives the same picture, a placeholder, in place of them; \(hint)"
            let kept = Decimals.count(picture.count, "cached cover")
            Log.warning("\(picture.host): \(kept) kept\(back): \(reason)")
        }
        if state.unreachable > Self.maximumPerGroup, state.answered == 0 {
            Log.warning("no server could be reached; check your connection, then run again")
        }
    }
}

extension FailureReporter.State {
    /// Counts a failure. - Returns: Whether only the summary reports it.
    fileprivate mutating func count(_ failure: CoverFailure) -> Bool {
        byKind[failure.kind, default: 0] += 1
        if [.nameResolution, .connect].contains(failure.kind) || failure.kind == .notTried && !failure.isRateLimit {
            unreachable += 1
        } else if failure.kind != .badURL, failure.kind != .offline, !failure.isRemembered {
            answered += 1
        }
        let host = failure.host
        if let problem = failure.hostProblem {
            // One line for all hosts behind a proxy.
            let key = failure.isOfProxy ? "" : host
            guard notTried[key] != nil || notTried.count < FailureReporter.maximumGroups else { return false }
            notTried[key] = ((notTried[key]?.count ?? 0) + 1, problem)
            return true
        }
        if let placeholder = failure.placeholder {
            let digest = placeholder.digest
            if placeholders[digest] == nil, placeholders.count >= FailureReporter.maximumGroups { return false }
            placeholders[digest, default: (host, 0, 0)].count += 1
            placeholders[digest]?.restored += placeholder.restored
            return true
        }
        guard let cause = failure.hostCause else { return false }
        let group = FailureReporter.HostFailure(host: host, cause: cause)
        guard let count = hostFailures[group] ?? (hostFailures.count < FailureReporter.maximumGroups ? 0 : nil) else {
            return false
        }
        hostFailures[group] = count + 1
        return count >= FailureReporter.maximumPerGroup
    }
}

extension CoverFailure {
    /// The message, with a hint if no request was sent because of a remembered 404 or 410.
    var advice: String { message + (isRemembered ? " (--retry-missing asks again)" : "") }

    /// A predicate for failures that concern all covers of the host; nil if the failure concerns this cover alone.
    fileprivate var hostCause: String? {
        switch kind {
        case .nameResolution, .connect: "failed without a connection"
        case .broken: "failed as the connection broke"
        case .timeout: "timed out"
        case .tls: "failed without a trusted TLS connection"
        case .truncated: "ended early"
        case .overQuota: "were refused: too many requests"
        case .status where status.map { $0 == 429 || $0 == 407 || $0 >= 500 } == true:
            "failed with status \(status ?? 0)"
        default: nil
        }
    }
}
