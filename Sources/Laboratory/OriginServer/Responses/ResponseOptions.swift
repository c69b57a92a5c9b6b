import HTTPTypes

/// The options of one response: the origin's, overridden by the request's query.
struct ResponseOptions: Sendable {
    /// The body's length in bytes.
    var size: Int?
    var delay: Duration
    /// The response waits for `Origin.release()`.
    var isHeld = false
    /// The bandwidth of the body; nil is unlimited.
    var bytesPerSecond: Int?
    var status: Int?
    /// The `Retry-After` field with `status`: seconds or a date, sent as it is.
    var retryAfter: String?
    /// Only this many requests with the same path and query fail.
    var failures: Int?
    var fault: OriginFault?
    var redirects = 0
    var redirectStatus = 302
    var redirectTarget: String?
    var isChunked = false
    var cacheControl: String
    /// Serves this cover instead of the path's.
    var coverNumber: Int?
    /// Additional fields of the response.
    var fields: [HTTPField] = []

    /// The maximum of `size`, in bytes. Bodies are held in memory.
    private static let maximumSize = 64 << 20
    /// The maximum of `delay`: one day, in milliseconds.
    static let maximumDelay = 86_400_000

    /// - Parameter number: the request's number, from 1.
    init(_ options: OriginOptions, number: Int) {
        size = options.size
        delay = options.delay
        cacheControl = options.cacheControl
        if number.isMultiple(of: max(1, options.faultEvery ?? 1)) {
            fault = options.fault
            status = options.status
        }
    }

    /// Applies a query ("a=1&b=2"). Unknown parameters are ignored; they make URLs distinct.
    ///
    /// - Throws: `OriginError.invalidValue`.
    mutating func apply(query: Substring) throws(OriginError) {
        for pair in query.split(separator: "&") {
            let parameter = QueryParameter(pair)
            switch parameter.name {
            case "size": size = try parameter.number(in: 0...Self.maximumSize)
            case "delay": delay = .milliseconds(try parameter.number(in: 0...Self.maximumDelay))
            case "hold": isHeld = try parameter.number(in: 0...1) == 1
            case "rate": bytesPerSecond = try parameter.number(in: 1...Int.max)
            case "status": status = try parameter.number(in: 200...599)
            case "retry-after": retryAfter = try parameter.text()
            case "times": failures = try parameter.number(in: 0...Int.max)
            case "fault": fault = try parameter.fault()
            case "redirect": redirects = try parameter.number(in: 0...1000)
            case "redirect-status": redirectStatus = try parameter.number(in: 300...399)
            case "to": redirectTarget = try parameter.text()
            case "chunked": isChunked = try parameter.number(in: 0...1) == 1
            case "cache-control": cacheControl = try parameter.text()
            case "same": coverNumber = try parameter.number(in: 0...Int.max)
            case "field": fields.append(try parameter.field())
            default: break
            }
        }
    }
}
