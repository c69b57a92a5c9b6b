import CoverLibrary
import Synchronization

/// Tells failures on stderr as they happen, the first few of them: ten thousand lines help nobody, the report has them all. Of
/// a host that cannot be reached fewer are told, and at the end how many there were more.
final class Complaints: Sendable {
    private static let most = 20
    fileprivate static let mostOfHost = 5
    fileprivate static let mostHosts = 64
    private let state = Mutex(State())

    fileprivate struct State {
        var told = 0
        /// Failures to reach a host, by host.
        var unreached: [String: Int] = [:]
        /// Covers that were not had because a host could not be reached, and those of which anything was heard.
        var (unheard, heard) = (0, 0)
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
        let unreached = state.unreached.filter { $0.value > Self.mostOfHost }
        for (host, count) in unreached.sorted(by: { $0.key < $1.key }) {
            Log.warning("\(host): \(count - Self.mostOfHost) more could not be had, without a connection; \(hint)")
        }
        if state.unheard > Self.mostOfHost, state.heard == 0 {
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
        guard failure.kind == .nameResolution || failure.kind == .connect else {
            if failure.kind != .badURL, failure.kind != .offline, failure.rememberedUntil == nil { heard += 1 }
            return false
        }
        unheard += 1
        let place = failure.url.firstRange(of: "://")?.upperBound ?? failure.url.startIndex
        let host = failure.url[place...].prefix { $0 != "/" && $0 != "?" }
        guard let count = unreached[String(host)] ?? (unreached.count < Complaints.mostHosts ? 0 : nil) else {
            return false
        }
        unreached[String(host)] = count + 1
        return count >= Complaints.mostOfHost
    }
}
