import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// What the scheduler keeps of a job beside the queue.
struct JobState {
    /// The job's use of its slot: slots are reused.
    var use: Int
    /// The transfer in flight.
    var token: HTTPClient.Token?
    /// Duration of the last attempt with its redirects, in microseconds.
    var microseconds = 0
    /// The stages of the last attempt with its redirects.
    var timings = TransferTimings()
    /// A 304 was about another response: the cover has to be downloaded.
    var ignoresStored = false
    /// The remembered redirect no longer holds.
    var ignoresRedirect = false
    /// Why the last transfer brought no cover.
    var failure: CoverFailure?
    /// The redirects of this attempt, in order.
    var redirects: [HTTPResponse] = []
    /// The cookies that these redirects have set.
    var cookies: [String] = []

    /// Adds the redirects that led to `response` from `target`.
    func withRedirects(_ response: TransferResponse, from target: HTTPURL) -> TransferResponse {
        if redirects.isEmpty { return response }
        var response = response
        response.redirectedTo = target.requestURL
        response.redirects = redirects
        return response
    }
}

extension StoredResponse {
    /// A response that has just arrived.
    init(_ response: TransferResponse) {
        let now = WallClock.milliseconds()
        self.init(
            status: response.head.status.code, fields: response.head.headerFields,
            requestTime: now - Int64(response.microseconds / 1_000), responseTime: now)
    }
}
