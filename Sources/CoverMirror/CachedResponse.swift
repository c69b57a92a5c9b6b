import CoverCache
import CoverLibrary
import CoverLibrary
import HTTPCaching
import HTTPTypes

/// A response in the cache, with what a mirror must know of the request it answered.
///
/// A 200 with an image and without `Vary` is the cover of its URL, which `get`, `list` and `prefetch` use too. Every other response is
/// a variant, which only the mirror uses.
struct CachedResponse: Sendable, Hashable {
    /// How many variants of a URL are stored. The oldest is replaced.
    static let maximumVariants = 8

    let entry: CachedEntry
    let response: StoredResponse
    /// The fields of the request that the response's `Vary` names.
    let requestFields: HTTPFields
    /// Whether an unsafe request has been forwarded since the response was stored or validated (RFC 9111 section 4.4).
    let isInvalid: Bool

    var key: String { entry.metadata.key }

    /// The keys that responses to `url` can have.
    static func keys(of url: String) -> [EntryKey] { [.cover(url: url)] + variantKeys(of: url) }

    static func variantKeys(of url: String) -> [EntryKey] {
        (1...maximumVariants).map { .response(slot: $0, url: url) }
    }

    // MARK: Entries

    /// - Parameter libraryFields: the fields of the library's own requests, which covers answer.
    init(_ entry: CachedEntry, libraryFields: HTTPFields) {
        self.entry = entry
        var (status, delay, isInvalid, requestFields) = (200, Int64(0), false, HTTPFields())
        for annotation in EntryAnnotation.all(in: entry.metadata.fields) {
            switch annotation {
            case .status(let value): status = value
            case .responseDelay(let value): delay = value
            case .invalidSince: isInvalid = true
            case .requestField(let name, let value):
                guard let name = HTTPField.Name(name) else { continue }
                requestFields.append(HTTPField(name: name, value: value))
            case .triedAt, .requestURL, .incompleteImage, .credentials: break
            }
        }
        var fields = HTTPFields(fieldLines: entry.metadata.fields)
        if !fields.contains(.contentType), entry.isCover { fields[.contentType] = entry.metadata.mediaType }
        response = StoredResponse(
            status: status, fields: fields, requestTime: entry.validatedAt - delay, responseTime: entry.validatedAt)
        self.requestFields = entry.isCover ? libraryFields : requestFields
        self.isInvalid = isInvalid
    }

    /// The metadata of a response's entry.
    static func metadata(
        of response: StoredResponse, requestFields: HTTPFields, key: String, mediaType: String, width: Int? = nil,
        height: Int? = nil
    ) -> EntryMetadata {
        var annotations: [EntryAnnotation] = []
        if response.status != 200 { annotations.append(.status(response.status)) }
        let delay = response.responseTime - response.requestTime
        if delay > 0 { annotations.append(.responseDelay(delay)) }
        for name in Vary.names(response.fields[values: .vary]).compactMap({ HTTPField.Name($0) }) {
            annotations += requestFields[values: name].map { .requestField(name: name.canonicalName, value: $0) }
        }
        return EntryMetadata(
            key: key, mediaType: mediaType, width: width, height: height, storedAt: response.responseTime,
            freshUntil: response.knownFreshUntil,
            fields: annotations.reduce(response.fields.fieldLines) { $0 + $1.line })
    }

    /// The entry's metadata after a 304 or the response to a HEAD has updated the response.
    func metadata(updatedTo response: StoredResponse) -> EntryMetadata {
        let old = entry.metadata
        var metadata = Self.metadata(
            of: response, requestFields: requestFields, key: key, mediaType: old.mediaType, width: old.width,
            height: old.height)
        for annotation in EntryAnnotation.all(in: old.fields) {
            // The library's annotations of a cover stay true.
            switch annotation {
            case .requestURL, .incompleteImage, .credentials: metadata.fields += annotation.line
            case .status, .responseDelay, .invalidSince, .requestField, .triedAt: break
            }
        }
        return metadata
    }

    /// The entry's metadata after the response was invalidated. - Parameter now: milliseconds since 1970.
    func metadata(invalidAt now: Int64) -> EntryMetadata {
        var metadata = entry.metadata
        metadata.storedAt = entry.validatedAt
        metadata.freshUntil = min(metadata.freshUntil ?? now, now)
        if !isInvalid { metadata.fields += EntryAnnotation.invalidSince(now).line }
        return metadata
    }

    // MARK: Selection

    /// Whether `Vary` allows the response for a request with these fields (RFC 9111 section 4.1).
    func matches(_ fields: HTTPFields) -> Bool {
        Vary.matches(response.fields[values: .vary], stored: requestFields, request: fields)
    }

    /// The most recent response that matches (RFC 9111 section 4).
    static func select(_ responses: [CachedResponse], for fields: HTTPFields) -> CachedResponse? {
        responses.filter { $0.matches(fields) }.max { first, second in
            (first.response.freshness.date, first.response.responseTime)
                < (second.response.freshness.date, second.response.responseTime)
        }
    }

    func reuse(at now: Int64, request: CacheDirectives) -> Reuse {
        isInvalid ? .afterValidation(ifError: false) : response.reuse(at: now, request: request)
    }

    /// The response updated by the fields of the response to a HEAD (RFC 9111 section 4.3.5). Nil if that is about another response.
    func updated(byHead head: StoredResponse) -> StoredResponse? {
        for name in [HTTPField.Name.eTag, .lastModified] {
            if let value = head.fields[name], value != response.fields[name] { return nil }
        }
        if let length = head.fields[.contentLength], length != String(entry.bytes) { return nil }
        return response.updated(by: head.fields, requestTime: head.requestTime, responseTime: head.responseTime)
    }
}
