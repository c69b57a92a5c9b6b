import CoverCache
import CurlHTTP
import HTTPTypes
import Platform

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
        self.init(
            status: 200, fields: entry.metadata.fields.withBytes { HTTPFields(kept: $0) },
            requestTime: entry.validatedAt,
            responseTime: entry.validatedAt)
    }

    /// What is of its day, and the type, which the entry knows itself.
    private static let dropped: Set<HTTPField.Name> = [
        .contentType, .retryAfter, .rateLimit, .rateLimitRemaining, .rateLimitReset, .xRateLimitRemaining,
        .xRateLimitReset,
    ]

    /// The fields an entry keeps, as lines of `name: value`, the values to the byte.
    var keptFields: String {
        let kept = fields.filter { !Self.dropped.contains($0.name) }
        let most = kept.reduce(0) { $0 + KeptLines.length($1.name.canonicalName.utf8.count, $1.value.utf8.count) }
        return KeptLines.text(upTo: most) { lines in
            for field in kept {
                field.name.canonicalName.withBytes { name in field.value.withBytes { lines.add(name, $0) } }
            }
        }
    }
}

extension PartialBody {
    /// The fields of the request that goes on with it; empty: it cannot be gone on with.
    var conditions: HTTPFields {
        StoredResponse(status: 200, fields: fields, requestTime: 0, responseTime: 0).rest(after: body.count) ?? [:]
    }
}

extension HTTPFields {
    /// - Parameter lines: `name: value` each.
    init(kept lines: Bytes) {
        self.init()
        var rest = lines
        while let line = KeptLine(&rest) {
            guard let name = HTTPField.Name(line.name.string) else { continue }
            append(HTTPField(name: name, value: line.value.string))
        }
    }
}
