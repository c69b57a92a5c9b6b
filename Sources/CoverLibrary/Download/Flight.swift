import CurlHTTP
import HTTPTypes

/// What the scheduler keeps of a job besides what the queue knows.
struct Flight {
    /// Of the job it is about: slots are used again.
    var use: Int
    /// Of the transfer under way; nil when there is none.
    var token: HTTPClient.Token?
    /// Length of the last try, its redirects included.
    var microseconds = 0
    /// The server's 304 was about another response: the cover has to come whole.
    var mustBring = false
    /// What the last transfer brought before it broke.
    var partial: PartialBody?
    /// What is remembered of where the URL leads holds no more.
    var hasLeftPlace = false
    /// Why its last transfer brought no cover.
    var failure: CoverFailure?
    /// The redirects of this try, in order.
    var way: [HTTPResponse] = []

    /// `response`, with the redirects that led to it from `place`.
    func whole(_ response: TransferResponse, at place: HTTPURL) -> TransferResponse {
        if way.isEmpty { return response }
        var response = response
        response.redirectedTo = place.string
        response.redirects = way
        return response
    }
}
