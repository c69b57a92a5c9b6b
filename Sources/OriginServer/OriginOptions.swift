/// How an origin answers when the request does not say otherwise; every part has a query parameter of its own.
package struct OriginOptions: Sendable {
    /// The address to listen on: a name or an IP address.
    package var host = "127.0.0.1"
    /// The port to listen on; 0: a free one.
    package var port = 0
    /// How long to wait before answering.
    package var delay: Duration = .zero
    /// How fast a body is sent, in bytes a second for each response; nil: as fast as it goes.
    package var bytesPerSecond: Int?
    /// How fast all bodies together are sent, in bytes a second: they wait in one line. Nil: as fast as it goes.
    package var totalBytesPerSecond: Int?
    /// A request is answered 429 when more than so many are in flight, itself included; nil: never.
    package var mostInFlight: Int?
    /// Every Nth request fails as `fault` or `status` says; nil: every one does.
    package var faultEvery: Int?
    /// How requests fail; it goes before `status`.
    package var fault: OriginFault?
    /// The status failing requests get.
    package var status: Int?
    /// `Retry-After` of the answers with `status`: seconds or a date, sent as it is.
    package var retryAfter: String?
    /// `Cache-Control` of covers; empty: none.
    package var cacheControl = "public, max-age=86400"
    /// What `/robots.txt` says; nil: there is none.
    package var robots: String?
    /// Count requests by path, for `Origin.requestCount(path:)`. Every path asked for stays in memory.
    package var countPaths = false

    package init() {}

    /// Takes a status code or a fault by its name: what `--fault` says.
    package mutating func setFault(_ name: String) throws(OriginError) {
        if let known = OriginFault(rawValue: name) {
            fault = known
        } else if let code = Int(name), (200...599).contains(code) {
            status = code
        } else {
            let names = OriginFault.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badValue(name: "fault", value: name, expected: "a status code or one of \(names)")
        }
    }
}

/// Ways to answer a request badly. A status is not among them: `?status=503`.
package enum OriginFault: String, CaseIterable, Sendable {
    /// The right `Content-Length`, half of the bytes, then the connection closes.
    case truncate
    /// `Content-Length` announces 1,000 bytes more than the whole cover; then the connection closes.
    case wrongLength = "wrong-length"
    /// `Content-Length` announces half of the bytes; all of them come, then the connection closes.
    case excess
    /// The connection is reset (RST) without a byte of an answer.
    case reset
    /// The connection closes in order, without a byte of an answer.
    case close
    /// 200 and a page of HTML, as a captive portal answers.
    case html
    /// 200 and a JSON error.
    case json
    /// 200 and a JSON error that says that too much was asked for.
    case quota
    /// 200 and no bytes.
    case empty
    /// A body that begins as a cover and never ends, without `Content-Length`.
    case endless
    /// A redirect to the same URL.
    case loop
    /// No answer; the connection stays open until the client goes away or the origin stops.
    case never
}

/// What can be wrong with an origin, or with what it is asked.
package enum OriginError: Error, CustomStringConvertible, Sendable {
    /// The address cannot be listened on; `cause` is the system's reason.
    case cannotListen(host: String, port: Int, cause: String)
    /// A query parameter or an option has a value that makes no sense.
    case badValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .badValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
