import CurlHTTP
import HTTPCaching
import HTTPTypes

/// The last covers that redirects led to, for jobs that are redirected there a moment later. The one that was used last is at the end.
struct RecentTargets {
    private static let maximumCount = 16
    private static let maximumBytes = 256 << 10

    private var entries: [(target: String, response: TransferResponse, key: String, time: Int64)] = []

    /// - Parameters:
    ///   - key: of the cover whose request brought the response.
    ///   - time: when the response arrived, in milliseconds since 1970.
    mutating func add(_ target: String, _ response: TransferResponse, of key: String, at time: Int64) {
        if response.body.count > Self.maximumBytes { return }
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append((target, response, key, time))
    }

    /// The response of a target, whose request brought it, and when it arrived, if it is fresh by its own header fields.
    /// - Parameter now: milliseconds since 1970.
    mutating func response(
        of target: String, at now: Int64
    ) -> (response: TransferResponse, key: String, time: Int64)? {
        guard let index = entries.lastIndex(where: { $0.target == target }) else { return nil }
        let entry = entries[index], stored = StoredResponse(entry.response, at: entry.time)
        guard stored.isStorable, stored.freshness.isExplicit, now < stored.freshness.freshUntil else { return nil }
        entries.append(entries.remove(at: index))
        return (entry.response, entry.key, entry.time)
    }
}

extension StoredResponse {
    /// - Parameters:
    ///   - time: when the response arrived, in milliseconds since 1970.
    ///   - redirects: those that led to it.
    init(_ response: TransferResponse, at time: Int64, redirects: RedirectChain = RedirectChain()) {
        self.init(
            status: response.head.status.code, fields: response.head.headerFields,
            requestTime: time - Int64(response.microseconds / 1_000), responseTime: time, redirects: redirects)
    }
}
