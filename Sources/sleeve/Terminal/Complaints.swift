import CoverLibrary
import Synchronization

/// Reports failures on stderr as they happen, the first few of them; the report has them all. Failures of a host are counted by
/// host and cause, and summed up at the end.
final class Complaints: Sendable {
    private static let maximumLines = 20
    fileprivate static let maximumAlike = 5
    fileprivate static let maximumGroups = 64
    private let state = Mutex(State())

    fileprivate struct State {
        var lines = 0
        /// Failures of hosts, by host and cause.
        var groups: [Group: Int] = [:]
        /// Covers that were not tried, by host, with what is wrong with it.
        var notTried: [String: (count: Int, problem: String)] = [:]
        /// Covers whose hosts could not be reached, and covers whose hosts answered.
        var (unreached, answered) = (0, 0)
    }

    fileprivate struct Group: Hashable {
        var host: String
        /// Completes "3 more covers …".
        var trouble: String
    }

    func add(_ outcome: CoverOutcome) {
        guard let failure = outcome.failure else {
            return state.withLock { if outcome.kind != .fresh { $0.answered += 1 } }
        }
        // A failure of the cache ends the run and is reported once, at its end.
        if failure.kind == .cache { return }
        let isCounted = state.withLock { $0.count(failure) }
        if isCounted { return }
        // The problem of a list names its file and line already.
        tell(outcome.kind == .skipped ? failure.detail : AbsenceOptions.advice(failure))
    }

    func tell(_ text: String) {
        let number = state.withLock { state in
            state.lines += 1
            return state.lines
        }
        if number <= Self.maximumLines { Log.warning(text) }
    }

    /// Sums up what was left out, and says when no server at all could be reached.
    func close(hasReport: Bool) {
        let state = state.withLock { $0 }
        let hint = hasReport ? "the report lists them all" : "--report FILE lists them all"
        let left = state.lines - Self.maximumLines
        if left > 0 { Log.warning("… and \(Decimals.grouped(left)) more like these; \(hint)") }
        let groups = state.groups.filter { $0.value > Self.maximumAlike }
        for (group, count) in groups.sorted(by: { ($0.key.host, $0.key.trouble) < ($1.key.host, $1.key.trouble) }) {
            let more = count - Self.maximumAlike
            let covers = more == 1 ? "1 more cover" : "\(Decimals.grouped(more)) more covers"
            Log.warning("\(group.host): \(covers) \(group.trouble); \(hint)")
        }
        for (_, hosts) in state.notTried.sorted(by: { $0.key < $1.key }) {
            Log.warning("\(Decimals.grouped(hosts.count)) not tried: \(hosts.problem)")
        }
        if state.unreached > Self.maximumAlike, state.answered == 0 {
            Log.warning("no server could be reached; check your connection, then run again")
        }
    }
}

extension Complaints.State {
    /// True: the failure is only summed up at the end.
    fileprivate mutating func count(_ failure: CoverFailure) -> Bool {
        if failure.isUnreached {
            unreached += 1
        } else if failure.kind != .badURL, failure.kind != .offline, failure.rememberedUntil == nil {
            answered += 1
        }
        let host = failure.host
        if let problem = failure.hostProblem {
            guard notTried[host] != nil || notTried.count < Complaints.maximumGroups else { return false }
            notTried[host] = ((notTried[host]?.count ?? 0) + 1, problem)
            return true
        }
        guard let trouble = failure.trouble else { return false }
        let group = Complaints.Group(host: host, trouble: trouble)
        guard let count = groups[group] ?? (groups.count < Complaints.maximumGroups ? 0 : nil) else { return false }
        groups[group] = count + 1
        return count >= Complaints.maximumAlike
    }
}

extension CoverFailure {
    fileprivate var isUnreached: Bool { kind == .nameResolution || kind == .connect || kind == .notTried }

    /// What is wrong with the host, and so with all of its covers; nil: it is this cover's own failure.
    fileprivate var trouble: String? {
        switch kind {
        case .nameResolution, .connect: "failed without a connection"
        case .broken: "failed as the connection broke"
        case .timeout: "timed out"
        case .tls: "failed without TLS that can be trusted"
        case .truncated: "ended early"
        case .overQuota: "got the answer that there are too many requests"
        case .disallowed: "may not be fetched: robots.txt forbids it"
        case .status where status.map { $0 == 429 || $0 == 407 || $0 >= 500 } == true: "got the answer \(status ?? 0)"
        default: nil
        }
    }
}
