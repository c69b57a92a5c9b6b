import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

/// A cached entry that a request revalidates.
final class CachedVersion: StoredVersion {
    let entry: CachedEntry
    let conditions: HTTPFields
    let entityTag: String?

    /// Nil if the entry's image is incomplete: the cover is downloaded again.
    init?(_ entry: CachedEntry) {
        if !EntryAnnotation.isImageComplete(entry.metadata.fields) { return nil }
        self.entry = entry
        conditions = StoredResponse(entry).conditions
        entityTag = conditions.text(.ifNoneMatch)
    }
}

extension Download {
    /// Length of the body in bytes; 0 without one.
    var byteCount: Int { if case .cover(_, _, let body) = content { body.count } else { 0 } }

    /// The changed index row of a cached entry; nil if there is none.
    func renewal(at now: Int64) -> Renewal? {
        switch content {
        case .cover, .unstorable, .failure(_, stored: nil): return nil
        case .failure(_, let stored?):
            guard let entry = (stored as? CachedVersion)?.entry else { return nil }
            var metadata = entry.metadata
            metadata.storedAt = entry.validatedAt
            let fields = StoredResponse(entry).keptFields
            metadata.fields = fields + url.annotation + EntryAnnotation.triedAt(now).line
            return Renewal(entry, metadata)
        case .notModified(let version, let update):
            guard let entry = (version as? CachedVersion)?.entry else { return nil }
            // The scheduler has checked that the 304 is about this entry.
            let updated = StoredResponse(entry).updated(
                by: update.fields, requestTime: update.requestTime, responseTime: update.responseTime)
            return updated.map {
                Renewal(
                    confirming: entry, validatedAt: update.responseTime, freshUntil: $0.knownFreshUntil,
                    fields: $0.keptFields + url.annotation)
            }
        }
    }

    /// The result of a job whose index row was written.
    func renewed(at now: Int64) -> FetchResult {
        guard case .notModified(let version, _) = content, let entry = (version as? CachedVersion)?.entry else {
            return failed(nil)
        }
        let cover = StoredCover(
            url: key, digest: entry.digest.description, byteCount: entry.bytes, isRevalidated: true,
            date: Date(milliseconds: now))
        return FetchResult(.success(cover))
    }

    /// The result of a job whose index row could not be written. A 404 is true whether it is remembered or not.
    func failed(_ error: (any Error)?) -> FetchResult {
        if case .failure(let failure, let stored) = content, error == nil || stored == nil {
            return FetchResult(.failure(failure))
        }
        return FetchResult(.failure(CoverFailure(cache: error ?? CacheError.index("not a cached version"), url: key)))
    }

    /// The hints to record for the URL.
    var memoryChanges: [HintChange] {
        var changes: [HintChange] = []
        if let absence = hints.absence {
            let now = WallClock.milliseconds()
            changes.append(
                Absence(status: absence.status, until: absence.until, answeredAt: now).change(of: key))
        }
        if let redirect = hints.redirect {
            changes.append(.set(Hint(.moved, key, redirect.target.requestURL, until: redirect.until)))
        } else if hints.forgetsRedirect {
            changes.append(.remove(.moved, key: key))
        }
        return changes
    }
}

extension HintChange {
    /// How long what was learnt about a host is kept, in milliseconds: 30 days.
    private static let hostTimeToLive: Int64 = 30 * 86_400_000

    /// Nil if nothing about the host is worth keeping.
    init?(host origin: String, _ memory: HostMemory, _ now: HostMemory.Moment) {
        guard let text = memory.text(at: now) else { return nil }
        self = .set(Hint(.host, origin, text, until: now.milliseconds + Self.hostTimeToLive))
    }
}

extension EntryMetadata {
    init(_ url: HTTPURL, _ header: ImageHeader, _ response: StoredResponse) {
        self.init(
            key: url.string, mediaType: header.mediaType, width: header.width, height: header.height,
            storedAt: response.responseTime, freshUntil: response.knownFreshUntil,
            fields: response.keptFields + url.annotation)
    }

    /// Marks the cover if its image is incomplete.
    mutating func markIfIncomplete(_ body: UnsafeRawBufferPointer) {
        if EntryAnnotation.isImageComplete(fields), !ImageHeader.isComplete(body) {
            fields += EntryAnnotation.incompleteImage.line
        }
    }

    /// The URL to request for the entry: as it was requested before, else the key.
    /// - Throws: `CoverFailure` if the key is no usable URL.
    func url() throws(CoverFailure) -> HTTPURL {
        for case .requestURL(let text) in EntryAnnotation.all(in: fields) {
            // A pack may come from anywhere, and must not lead elsewhere.
            if let url = try? HTTPURL(text), url.string == key { return url }
        }
        return try HTTPURL(location: key)
    }
}

extension HTTPURL {
    /// The line of an entry's fields that keeps what is requested; empty if that is the key.
    fileprivate var annotation: String { requestURL == string ? "" : EntryAnnotation.requestURL(requestURL).line }
}

extension StoredResponse {
    /// A cached entry as a response: covers are stored from 200 responses only.
    init(_ entry: CachedEntry) {
        self.init(
            status: 200, fields: HTTPFields(fieldLines: entry.metadata.fields), requestTime: entry.validatedAt,
            responseTime: entry.validatedAt)
    }
}
