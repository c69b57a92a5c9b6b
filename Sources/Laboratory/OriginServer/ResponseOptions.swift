import HTTPTypes
import Platform

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

/// One parameter of a query. Its value is still percent-encoded.
struct QueryParameter {
    let name: Substring
    private let value: Substring

    init(_ pair: Substring) {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts[0]
        value = parts.count > 1 ? parts[1] : ""
    }

    func number(in range: ClosedRange<Int>) throws(OriginError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            let end = range.upperBound == .max ? "up" : "to \(range.upperBound)"
            throw error(expected: "a whole number from \(range.lowerBound) \(end)")
        }
        return number
    }

    func fault() throws(OriginError) -> OriginFault {
        guard let fault = OriginFault(rawValue: try text()) else {
            throw error(expected: "one of \(OriginFault.names)")
        }
        return fault
    }

    /// A header field, written as `Name:value`.
    func field() throws(OriginError) -> HTTPField {
        let parts = try text().split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
            throw error(expected: "Name:value")
        }
        return HTTPField(name: name, value: String(parts[1].drop { $0 == " " }))
    }

    /// The decoded value. Control characters are rejected, because it goes into header fields.
    func text() throws(OriginError) -> String {
        var bytes: [UInt8] = []
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let decoded = Hexadecimal.byte(rest.prefix(2)) else {
                throw error(expected: "two hexadecimal digits after %")
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw error(expected: "UTF-8 without control characters") }
        return text
    }

    private func error(expected: String) -> OriginError {
        .invalidValue(name: String(name), value: String(value), expected: expected)
    }
}
