package import HTTPTypes

/// The last response of a transfer, complete.
package struct TransferResponse: Sendable {
    /// The status, and the fields that a private cache needs (`ResponseFields`); all fields if the request was relayed.
    package var head: HTTPResponse
    /// Empty for a status other than 2xx, unless the request was relayed.
    package var body: [UInt8]
    /// The target of a redirect that was not followed, as the server wrote it; the whole URL.
    package var location: String?
    /// The last URL, if redirects were followed.
    package var redirectedTo: String?
    /// The redirects that were followed, in order. Empty if one of their URLs contained credentials.
    package var redirects: [HTTPResponse] = []
    /// The cookies to send to the target of a redirect that was not followed.
    package var cookies: [String] = []
    /// The protocol shows that the body is complete (`BodyExtent`).
    package var isEndMarked = true
    package var isHTTP2: Bool
    /// Duration of the transfer in microseconds.
    package var microseconds: Int
    package var timings = TransferTimings()

    package init(
        head: HTTPResponse, body: [UInt8] = [], location: String? = nil, redirectedTo: String? = nil,
        redirects: [HTTPResponse] = [], isHTTP2: Bool = false, microseconds: Int = 0
    ) {
        self.head = head
        self.body = body
        self.location = location
        self.redirectedTo = redirectedTo
        self.redirects = redirects
        self.isHTTP2 = isHTTP2
        self.microseconds = microseconds
    }
}
