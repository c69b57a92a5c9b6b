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
        for line in entry.metadata.fields.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            fields.append(HTTPField(name: name, value: String(line[colon...].dropFirst(2))))
        }
        self.init(
            status: 200, fields: fields, requestTime: entry.validatedAt, responseTime: entry.validatedAt)
    }

    /// `freshUntil`; nil where the response says nothing of it and nothing can be guessed. One that varies with everything
    /// (RFC 9111 §4.1) is never fresh.
    var knownFreshUntil: Int64? {
        if Variance.names(fields[values: .vary]).contains("*") { return responseTime }
        let isKnown = directives.maxAge != nil || directives.noCache || fields.contains(.expires) || lifetime > 0
        return isKnown ? freshUntil : nil
    }

    /// The fields an entry keeps, as lines of `name: value`, the values to the byte. The entry knows the type itself, and
    /// `Retry-After` is of its day.
    var keptFields: String {
        var lines = ""
        for field in fields where field.name != .contentType && field.name != .retryAfter {
            lines += "\(field.name.canonicalName): \(field.value)\n"
        }
        return lines
    }
}
