import CoverLibrary
import Synchronization

/// Tells failures on stderr as they happen, the first few of them: ten thousand lines help nobody, the report has them all. Of
/// failures that are the host's fewer are told, and at the end how many of each kind there were more.
final class Complaints: Sendable {
    private static let most = 20
    fileprivate static let mostAlike = 5
    fileprivate static let mostGroups = 64
    private let state = Mutex(State())

    fileprivate struct State {
        var told = 0
        /// Failures that are a host's, by host and by what went wrong.
        var groups: [Group: Int] = [:]
        /// Covers that were not had because a host could not be reached, and those of which anything was heard.
        var (unheard, heard) = (0, 0)
    }

    fileprivate struct Group: Hashable {
        var host: String
        /// Completes "3 more …".
        var trouble: String
    }

    func add(_ outcome: CoverOutcome) {
        guard let failure = outcome.failure else {
            return state.withLock { if outcome.kind != .fresh { $0.heard += 1 } }
        }
        // What the cache cannot take ends the run, and is told once, at its end.
        if failure.kind == .cache { return }
        let isRepeated = state.withLock { $0.note(failure) }
        if isRepeated { return }
        tell(outcome.kind == .skipped ? Self.skipped(failure) : AbsenceOptions.advice(failure))
    }

    func tell(_ text: String) {
        let number = state.withLock { state in
            state.told += 1
            return state.told
        }
        if number <= Self.most { Log.warning(text) }
    }

    /// Says what was left out, and when no server at all could be reached.
    func close(hasReport: Bool) {
        let state = state.withLock { $0 }
        let hint = hasReport ? "the report lists them all" : "--report FILE lists them all"
        let left = state.told - Self.most
        if left > 0 { Log.warning("… and \(left) more like these; \(hint)") }
        let groups = state.groups.filter { $0.value > Self.mostAlike }
        for (group, count) in groups.sorted(by: { ($0.key.host, $0.key.trouble) < ($1.key.host, $1.key.trouble) }) {
            Log.warning("\(group.host): \(count - Self.mostAlike) more \(group.trouble); \(hint)")
        }
        if state.unheard > Self.mostAlike, state.heard == 0 {
            Log.warning("no server could be reached: the network may be gone; the next run asks for what is missing")
        }
    }

    private static func skipped(_ failure: CoverFailure) -> String {
        // A list's own problem names its place already.
        guard let line = failure.line else { return failure.detail }
        return "line \(line): \(failure.url): \(failure.detail); skipped"
    }
}

extension Complaints.State {
    /// True: it says no more than what was told before.
    fileprivate mutating func note(_ failure: CoverFailure) -> Bool {
        if failure.isUnreached {
            unheard += 1
        } else if failure.kind != .badURL, failure.kind != .offline, failure.rememberedUntil == nil {
            heard += 1
        }
        guard let trouble = failure.trouble else { return false }
        let place = failure.url.firstRange(of: "://")?.upperBound ?? failure.url.startIndex
        let host = failure.url[place...].prefix { $0 != "/" && $0 != "?" }
        let group = Complaints.Group(host: String(host), trouble: trouble)
        guard let count = groups[group] ?? (groups.count < Complaints.mostGroups ? 0 : nil) else { return false }
        groups[group] = count + 1
        return count >= Complaints.mostAlike
    }
}

extension CoverFailure {
    fileprivate var isUnreached: Bool { kind == .nameResolution || kind == .connect }

    /// What is wrong with the host, and so with all of its covers; nil: it is this cover's own failure.
    fileprivate var trouble: String? {
        switch kind {
        case .nameResolution, .connect: "could not be had, without a connection"
        case .timeout: "timed out"
        case .tls: "could not be had, without TLS that can be trusted"
        case .truncated: "ended early"
        case .overQuota: "were refused, as too much was asked for"
        case .disallowed: "are forbidden by robots.txt"
        case .status where status.map { $0 == 429 || $0 == 407 || $0 >= 500 } == true: "were answered \(status ?? 0)"
        default: nil
        }
    }
}
