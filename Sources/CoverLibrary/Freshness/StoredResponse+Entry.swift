import CoverCache
import CurlHTTP
import HTTPCaching
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
}

extension PartialBody {
    /// The fields of the request that goes on with it; empty: it cannot be gone on with.
    var conditions: HTTPFields {
        StoredResponse(status: 200, fields: fields, requestTime: 0, responseTime: 0).rest(after: body.count) ?? [:]
    }
}
