import CoverCache
import CurlHTTP
import HTTPTypes

/// Responses as the cache's entries keep them.
extension StoredResponse {
    /// What has just come.
    init(_ response: TransferResponse) {
        let now = WallClock.milliseconds()
        self.init(
            status: response.head.status.code, fields: response.head.headerFields,
            requestTime: now - Int64(response.microseconds / 1_000), responseTime: now)
    }

    /// An entry of the cache: covers are kept of 200s alone.
    init(_ entry: CachedEntry) {
        var fields = HTTPFields()
        for line in entry.metadata.fields.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let name = Self.name(line[..<colon]) else {
                continue
            }
            fields.append(HTTPField(name: name, value: String(Substring(line[colon...].dropFirst(2)))))
        }
        self.init(
            status: 200, fields: fields, requestTime: entry.validatedAt, responseTime: entry.validatedAt)
    }

    /// The name of a field as entries keep it. Those that are there nearly always need not be looked into.
    private static func name(_ bytes: Substring.UTF8View) -> HTTPField.Name? {
        for (text, name) in usual where bytes.elementsEqual(text) { return name }
        return HTTPField.Name(String(Substring(bytes)))
    }

    private static let usual: [([UInt8], HTTPField.Name)] = [
        HTTPField.Name.eTag, .lastModified, .cacheControl, .date, .expires, .vary, .age,
    ].map { (Array($0.canonicalName.utf8), $0) }

    /// `freshUntil`; nil where the response says nothing of it and nothing can be guessed. One that varies with everything
    /// (RFC 9111 §4.1) is never fresh.
    var knownFreshUntil: Int64? {
        if Variance.names(fields[values: .vary]).contains("*") { return responseTime }
        let isKnown = directives.maxAge != nil || directives.noCache || fields.contains(.expires) || lifetime > 0
        return isKnown ? freshUntil : nil
    }

    /// What is of its day, and the type, which the entry knows itself.
    private static let dropped: Set<HTTPField.Name> = [
        .contentType, .retryAfter, .rateLimit, .rateLimitRemaining, .rateLimitReset, .xRateLimitRemaining,
        .xRateLimitReset,
    ]

    /// The fields an entry keeps, as lines of `name: value`, the values to the byte.
    var keptFields: String {
        var lines = ""
        for field in fields where !Self.dropped.contains(field.name) {
            lines += "\(field.name.canonicalName): \(field.value)\n"
        }
        return lines
    }
}

extension PartialBody {
    /// The fields of the request that goes on with it; empty: it cannot be gone on with.
    var conditions: HTTPFields {
        StoredResponse(status: 200, fields: fields, requestTime: 0, responseTime: 0).rest(after: body.count) ?? [:]
    }
}
