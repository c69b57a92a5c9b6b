import CoverCache
import HTTPCaching
import HTTPTypes

extension KeptFields {
    /// The conditions under which a server is asked for an entry's cover again (§4.3.1).
    static func conditions(of entry: CachedEntry) -> HTTPFields {
        entry.metadata.fields.withBytes { KeptFields($0)?.conditions } ?? StoredResponse(entry).conditions
    }

    /// Updates an entry's stored fields with those of a 304 (RFC 9111 §4.3.4). Nil if the 304 is about another response.
    static func renewal(of entry: CachedEntry, by update: StoredResponse) -> Renewal? {
        entry.metadata.fields.withBytes { stored in
            update.keptFields.withBytes { news in
                guard let stored = KeptFields(stored), let news = KeptFields(news) else {
                    return StoredResponse(entry).updated(
                        by: update.fields, requestTime: update.requestTime, responseTime: update.responseTime
                    ).map {
                        Renewal(
                            entry, validatedAt: update.responseTime, freshUntil: $0.knownFreshUntil,
                            fields: $0.keptFields)
                    }
                }
                return stored.updated(by: news).map { updated in
                    let freshness = updated.freshness(
                        requestTime: update.requestTime, responseTime: update.responseTime)
                    return Renewal(
                        entry, validatedAt: update.responseTime, freshUntil: freshness.knownFreshUntil,
                        fields: updated.lines)
                }
            }
        }
    }
}
