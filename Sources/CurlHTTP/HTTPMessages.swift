package import HTTPTypes

/// What is asked of a server: one GET, or one POST, or what somebody else asks.
package struct TransferRequest: Sendable {
    package var url: HTTPURL
    /// Extra request fields, such as `If-None-Match`.
    package var headerFields: HTTPFields
    /// Wait for a connection that can multiplex rather than open another: right for hosts known to speak HTTP/2.
    package var waitsToMultiplex: Bool
    /// The JSON to post; nil: a GET. A POST follows no redirects: most of them would make it a GET (RFC 9110 section 15.4).
    package var postedJSON: [UInt8]?
    /// Follow redirects within the transfer; false: the response that redirects is what comes back.
    package var followsRedirects = true
    /// What has come of the body before. A 206 is put behind it, and the response is as if it had come whole (RFC 9111
    /// section 3.4); any other response takes its place. `Range` and `If-Range` are the caller's to add.
    package var continuing: PartialBody?
    /// Hand on somebody else's request; nil: ask for a cover.
    package var relay: Relay?

    /// A request handed on, whose answer comes back as it is: of any status with its body, with all its fields, and redirects
    /// are left to whoever asked. Nothing is added to `headerFields`.
    package struct Relay: Sendable {
        package var method: HTTPRequest.Method
        /// Nil: the request has none.
        package var body: [UInt8]?
        /// Told of 1xx responses as they come, on the event loop.
        package var onInterim: (@Sendable (HTTPResponse) -> Void)?
        /// Where the body goes, of any size and for as long as it takes; nil: it comes whole with the response.
        var pipe: BodyPipe?

        package init(
            method: HTTPRequest.Method, body: [UInt8]? = nil, onInterim: (@Sendable (HTTPResponse) -> Void)? = nil
        ) {
            self.method = method
            self.body = body
            self.onInterim = onInterim
        }
    }

    package init(
        url: HTTPURL, headerFields: HTTPFields = [:], waitsToMultiplex: Bool = false, postedJSON: [UInt8]? = nil,
        relay: Relay? = nil
    ) {
        self.url = url
        self.headerFields = headerFields
        self.waitsToMultiplex = waitsToMultiplex
        self.postedJSON = postedJSON
        self.relay = relay
    }
}

/// What came back: the last response after redirects, complete.
package struct TransferResponse: Sendable {
    /// Status, and the fields a cache needs (see `ResponseFields`); of a relayed request all of them.
    package var head: HTTPResponse
    /// The body of a 2xx; of any other status it is kept of relayed requests alone.
    package var body: ResponseBody
    /// Where a redirect leads that was not followed.
    package var location: String?
    /// Where redirects led, when there were any.
    package var redirectedTo: String?
    /// The responses that led there, in order; none when one of them named credentials, which are not to be kept.
    package var redirects: [HTTPResponse] = []
    package var isHTTP2: Bool
    /// From start to the end of the body, in microseconds.
    package var microseconds: Int
    /// From start to the first byte, in microseconds.
    package var microsecondsToFirstByte: Int
}

/// How every transfer of a client behaves.
package struct HTTPClientConfiguration: Sendable {
    package var userAgent: String
    /// Whole transfer, redirects included.
    package var timeout: Duration = .seconds(60)
    package var connectTimeout: Duration = .seconds(15)
    /// A transfer slower than `lowSpeedLimit` bytes a second for `lowSpeedTime` seconds has timed out.
    package var lowSpeedLimit = 64
    package var lowSpeedTime = 30
    /// The largest body taken, in bytes.
    package var maximumBodySize = 32 << 20
    /// The most that the heads of all responses of a transfer, redirects and trailers included, may come to, in bytes.
    package var maximumHeadSize = 300 << 10
    package var maximumRedirects = 5
    /// Follow redirects from https to http, whose answers anybody on the way may change.
    package var allowsDowngrades = false
    /// Connect to no address that is not on the open Internet, redirects included. With a proxy it is the proxy's address
    /// that counts, as that is the one connected to.
    package var deniesPrivateAddresses = false
    /// A PEM file of certificate authorities to trust instead of the system's.
    package var certificateAuthorities: String?
    /// How many idle connections are kept, all hosts together.
    package var maximumConnections = 64

    package init(userAgent: String) { self.userAgent = userAgent }
}
