package import CurlHTTP
import Synchronization

/// The downloads that were handed to the store and have no outcome yet, by key, with the requests that wait for each.
///
/// The scheduler adds a download when it has judged its response, and has done with it. A later request for the key joins it here. The
/// store completes the requests when the outcome is certain; from then on, a request for the key starts a new job, unless its look-up was
/// before: then it joins what has ended meanwhile.
package final class PendingStores: Sendable {
    /// How many stored covers are remembered for requests that were looked up before. More than end between a look-up and its request.
    static let maximumEnded = 4_096

    private struct Entry {
        let url: HTTPURL
        var requests: [FetchRequest]
        let sent: SentRequest
        let lease: Int?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The number of covers that were stored.
        var mark = 0
        /// The last of them, each with its number.
        var ended: [String: (number: Int, outcome: CoverOutcome)] = [:]
        /// Their keys, of which each replaces the oldest.
        var keys: [String] = []

        mutating func remember(_ outcome: CoverOutcome) {
            let maximumEnded = PendingStores.maximumEnded
            let place = mark % maximumEnded
            mark += 1
            if place < keys.count {
                if let old = ended[keys[place]], old.number == mark - maximumEnded { ended[keys[place]] = nil }
                keys[place] = outcome.url
            } else {
                keys.append(outcome.url)
            }
            ended[outcome.url] = (mark, outcome)
        }
    }

    private let state = Mutex(State())
    private let leases: (any DownloadLeases)?

    init(_ leases: (any DownloadLeases)?) { self.leases = leases }

    /// - Parameter lease: ends with the download.
    func add(_ url: HTTPURL, _ requests: [FetchRequest], _ sent: SentRequest, lease: Int?) {
        state.withLock { $0.entries[url.string] = Entry(url: url, requests: requests, sent: sent, lease: lease) }
    }

    /// What `FetchRequest.mark` is: read it before the look-up.
    package var mark: Int { state.withLock { $0.mark } }

    /// Adds a request to a download, or completes it with one that has ended since the request's look-up. Returns false if the key has
    /// neither.
    func join(_ key: String, _ request: FetchRequest) -> Bool {
        let (isJoined, outcome) = state.withLock { state -> (Bool, CoverOutcome?) in
            if state.entries[key]?.requests.append(request) != nil { return (true, nil) }
            guard let mark = request.mark, let ended = state.ended[key], ended.number > mark else {
                return (false, nil)
            }
            return (true, ended.outcome)
        }
        if var outcome {
            (outcome.isJoined, outcome.timings) = (true, nil)
            request.completion(outcome)
        }
        return isJoined
    }

    /// Whether a request waits until the cover is in the tier: false if all of those were cancelled, nil if there is none.
    package func isPutAwaited(_ key: String) -> Bool? {
        let waiting = state.withLock { $0.entries[key]?.requests ?? [] }.compactMap(\.isPutAwaited)
        return waiting.isEmpty ? nil : waiting.contains { $0() }
    }

    /// Ends the downloads of these keys, and completes the requests that wait for them. The outcomes' URLs are keys.
    /// - Returns: the requests that the outcomes do not answer: for `DownloadScheduler.resubmit`.
    package func complete(_ outcomes: [CoverOutcome]) -> [(url: HTTPURL, request: FetchRequest)] {
        var unanswered: [(url: HTTPURL, request: FetchRequest)] = []
        for case (let outcome, let entry?) in zip(outcomes, end(outcomes.map(\.url), outcomes)) {
            func isAnswered(_ request: FetchRequest) -> Bool { request.isAnswered(by: outcome, to: entry.sent) }
            if entry.requests.allSatisfy(isAnswered) {
                entry.requests.complete(outcome)
                continue
            }
            entry.requests.filter(isAnswered).complete(outcome)
            unanswered += entry.requests.filter { !isAnswered($0) }.map { (entry.url, $0) }
        }
        return unanswered
    }

    /// Ends the downloads of these keys. - Returns: their requests.
    func takeBack(_ keys: [String]) -> [(url: HTTPURL, request: FetchRequest)] {
        end(keys, []).compactMap(\.self).flatMap { entry in entry.requests.map { (entry.url, $0) } }
    }

    private func end(_ keys: [String], _ outcomes: [CoverOutcome]) -> [Entry?] {
        let ended = state.withLock { state in
            for outcome in outcomes where outcome.contentDigest != nil { state.remember(outcome) }
            return keys.map { state.entries.removeValue(forKey: $0) }
        }
        if let leases { for case let entry? in ended { if let lease = entry.lease { leases.release(lease) } } }
        return ended
    }
}
