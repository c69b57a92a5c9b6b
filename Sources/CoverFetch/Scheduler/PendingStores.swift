package import CurlHTTP
import Synchronization

/// The downloads that were handed to the store and have no outcome yet, by key, with the requests that wait for each.
///
/// The scheduler adds a download when it has judged its response, and has done with it. A later request for the key joins it here. The
/// store completes the requests when the outcome is certain; from then on, a request for the key starts a new job.
package final class PendingStores: Sendable {
    private struct Entry {
        let url: HTTPURL
        var requests: [FetchRequest]
        let sent: SentRequest
        let lease: Int?
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let leases: (any DownloadLeases)?

    init(_ leases: (any DownloadLeases)?) { self.leases = leases }

    /// - Parameter lease: ends with the download.
    func add(_ url: HTTPURL, _ requests: [FetchRequest], _ sent: SentRequest, lease: Int?) {
        entries.withLock { $0[url.string] = Entry(url: url, requests: requests, sent: sent, lease: lease) }
    }

    /// Adds a request to a download. Returns false if the key has none.
    func join(_ key: String, _ request: FetchRequest) -> Bool {
        entries.withLock { entries in
            if entries.isEmpty { return false }
            return entries[key]?.requests.append(request) != nil
        }
    }

    /// Whether a request waits until the cover is in the tier: false if all of those were cancelled, nil if there is none.
    package func isPutAwaited(_ key: String) -> Bool? {
        let waiting = entries.withLock { $0[key]?.requests ?? [] }.compactMap(\.isPutAwaited)
        return waiting.isEmpty ? nil : waiting.contains { $0() }
    }

    /// Ends the downloads of these keys, and completes the requests that wait for them. The outcomes' URLs are keys.
    /// - Returns: the requests that the outcomes do not answer: for `DownloadScheduler.resubmit`.
    package func complete(_ outcomes: [CoverOutcome]) -> [(url: HTTPURL, request: FetchRequest)] {
        var unanswered: [(url: HTTPURL, request: FetchRequest)] = []
        for case (let outcome, let entry?) in zip(outcomes, end(outcomes.lazy.map(\.url))) {
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
        end(keys).compactMap(\.self).flatMap { entry in entry.requests.map { (entry.url, $0) } }
    }

    private func end(_ keys: some Sequence<String>) -> [Entry?] {
        let ended = entries.withLock { entries in keys.map { entries.removeValue(forKey: $0) } }
        if let leases { for case let entry? in ended { if let lease = entry.lease { leases.release(lease) } } }
        return ended
    }
}
