import HTTPTypes

/// What one request asks for: the options, and over them the query.
struct Wishes: Sendable {
    var size: Int?
    var delay: Duration
    /// Wait for `Origin.release()`.
    var isHeld = false
    var bytesPerSecond: Int?
    var status: Int?
    var retryAfter: String?
    /// Fail only so many requests for the same path and query.
    var times: Int?
    var fault: OriginFault?
    var redirects = 0
    var redirectStatus = 302
    var redirectTarget: String?
    var isChunked = false
    var cacheControl: String
    /// Serve this cover instead.
    var same: Int?
    var type: String?
    /// Beside those the answer has.
    var fields: [HTTPField] = []

    /// The largest body a request can ask for, in bytes: it is held in memory.
    static let largestSize = 64 << 20

    /// The options' part. `number` is the request's, from 1.
    init(_ options: OriginOptions, number: Int) {
        delay = options.delay
        bytesPerSecond = options.bytesPerSecond
        retryAfter = options.retryAfter
        cacheControl = options.cacheControl
        if number.isMultiple(of: max(1, options.faultEvery ?? 1)) {
            fault = options.fault
            status = options.status
        }
    }

    /// Applies a query ("a=1&b=2"). Names nobody knows are let through: they make URLs distinct.
    ///
    /// - Throws: `OriginError.badValue`.
    mutating func apply(query: Substring) throws(OriginError) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let field = Field(name: String(parts[0]), raw: parts.count > 1 ? parts[1] : "")
            switch field.name {
            case "size": size = try field.number(in: 0...Self.largestSize)
            case "delay": delay = .milliseconds(try field.number(in: 0...86_400_000))
            case "hold": isHeld = try field.number(in: 0...1) == 1
            case "rate": bytesPerSecond = try field.number(in: 1...Int.max)
            case "status": status = try field.number(in: 200...599)
            case "retry-after": retryAfter = try field.text()
            case "times": times = try field.number(in: 0...Int.max)
            case "fault": fault = try field.fault()
            case "redirect": redirects = try field.number(in: 0...1000)
            case "redirect-status": redirectStatus = try field.number(in: 300...399)
            case "to": redirectTarget = try field.text()
            case "chunked": isChunked = try field.number(in: 0...1) == 1
            case "cache-control": cacheControl = try field.text()
            case "same": same = try field.number(in: 0...Int.max)
            case "type": type = try field.text()
            case "field": fields.append(try field.field())
            default: break
            }
        }
    }
}

/// One parameter of a query.
private struct Field {
    let name: String
    let raw: Substring

    func number(in range: ClosedRange<Int>) throws(OriginError) -> Int {
        guard let value = Int(raw), range.contains(value) else {
            let last = range.upperBound == .max ? "up" : "to \(range.upperBound)"
            throw error(expected: "a whole number from \(range.lowerBound) \(last)")
        }
        return value
    }

    func fault() throws(OriginError) -> OriginFault {
        guard let fault = OriginFault(rawValue: try text()) else {
            throw error(expected: "one of " + OriginFault.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return fault
    }

    /// `Name:value`.
    func field() throws(OriginError) -> HTTPField {
        let halves = try text().split(separator: ":", maxSplits: 1)
        guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else {
            throw error(expected: "Name:value")
        }
        return HTTPField(name: name, value: halves[1].drop { $0 == " " }.description)
    }

    /// The value decoded. It goes into header fields, where control characters would be a hole.
    func text() throws(OriginError) -> String {
        var bytes: [UInt8] = []
        var rest = raw.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                throw error(expected: "two hexadecimal digits after %")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw error(expected: "UTF-8 without control characters") }
        return text
    }

    private func error(expected: String) -> OriginError {
        .badValue(name: name, value: String(raw), expected: expected)
    }
}
