import CoverCache
import HTTPCaching
import HTTPTypes

extension KeptFields {
    /// The conditions under which a server is asked for an entry's cover again (§4.3.1).
    static func conditions(of entry: CachedEntry) -> HTTPFields {
        entry.metadata.fields.withBytes { KeptFields($0)?.conditions } ?? StoredResponse(entry).conditions
    }

    /// What a 304 leaves of an entry (RFC 9111 §4.3.4). Nil when it is about another response.
    static func renewal(of entry: CachedEntry, by told: StoredResponse) -> Renewal? {
        told.keptFields.withBytes { news in
            renewal(of: entry, by: news, told.requestTime, told.responseTime) { told.fields }
        }
    }

    /// The same of a 304's kept fields, as lines. - Parameter fields: all of them.
    static func renewal(
        of entry: CachedEntry, by news: Bytes, _ requestTime: Int64, _ responseTime: Int64, fields: () -> HTTPFields
    ) -> Renewal? {
        entry.metadata.fields.withBytes { stored in
            guard let stored = KeptFields(stored), let told = KeptFields(news) else {
                return StoredResponse(entry).updated(
                    by: fields(), requestTime: requestTime, responseTime: responseTime
                ).map {
                    Renewal(
                        entry, validatedAt: responseTime, freshUntil: $0.knownFreshUntil, fields: $0.keptFields)
                }
            }
            return stored.updated(by: told).map { updated in
                let freshness = updated.freshness(requestTime: requestTime, responseTime: responseTime)
                return Renewal(
                    entry, validatedAt: responseTime, freshUntil: freshness.knownFreshUntil, fields: updated.lines)
            }
        }
    }
}
