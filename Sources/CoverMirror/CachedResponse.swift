import CoverCache
import HTTPCaching
import HTTPTypes

/// A response that the cache holds, with what a mirror must know of the request it came for.
///
/// A cover that anybody may be given, a 200 that does not vary, is the very entry that `get`, `list` and `prefetch` know: its
/// key is the URL. Every other response has one of a few places of its URL, whose keys are no URLs: what varies, is no image
/// or no 200. Those are the mirror's alone. What it adds to an entry's fields are lines whose names hold a space, as no
/// field's name does.
struct HeldResponse: Sendable, Hashable {
    /// So many responses besides the cover are held for one URL; the oldest makes way.
    static let places = 8

    let key: String
    let response: StoredResponse
    /// The request's fields that the response's `Vary` names.
    let asked: HTTPFields
    /// A request that changes something has passed since (RFC 9111 §4.4).
    let isInvalid: Bool
    let entry: CachedEntry

    static func place(_ number: Int, of url: String) -> String { "response \(number) of \(url)" }

    /// Where responses of `url` may be.
    static func keys(of url: String) -> [String] { [url] + (1...places).map { place($0, of: url) } }

    // MARK: As entries

    private enum Line {
        static let status = "answered status"
        static let delay = "response delay"
        static let invalid = "invalid since"
        static let asked = "asked "
    }

    /// - Parameter own: what the library's own requests say, which brought the covers it has fetched itself.
    init(_ entry: CachedEntry, own: HTTPFields) {
        key = entry.metadata.key
        self.entry = entry
        var (status, delay, isInvalid, asked) = (200, Int64(0), false, HTTPFields())
        // Bytes, not characters: every hit reads some.
        for line in entry.metadata.fields.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].contains(UInt8(ascii: " ")) else {
                continue
            }
            let value = String(Substring(line[colon...].dropFirst(2)))
            switch String(Substring(line[..<colon])) {
            case Line.status: status = Int(value) ?? status
            case Line.delay: delay = Int64(value) ?? 0
            case Line.invalid: isInvalid = true
            case let name where name.hasPrefix(Line.asked):
                guard let name = HTTPField.Name(String(name.dropFirst(Line.asked.count))) else { continue }
                asked.append(HTTPField(name: name, value: value))
            default: break
            }
        }
        var fields = StoredResponse(entry).fields
        if !fields.contains(.contentType), entry.isCover { fields[.contentType] = entry.metadata.mediaType }
        response = StoredResponse(
            status: status, fields: fields, requestTime: entry.validatedAt - delay, responseTime: entry.validatedAt)
        self.asked = entry.isCover ? own : asked
        self.isInvalid = isInvalid
    }

    /// What an entry is to say of a response.
    static func metadata(
        of response: StoredResponse, asked: HTTPFields, key: String, mediaType: String, width: Int? = nil,
        height: Int? = nil
    ) -> EntryMetadata {
        var lines = ""
        for field in response.fields { lines += "\(field.name.canonicalName): \(field.value)\n" }
        if response.status != 200 { lines += "\(Line.status): \(response.status)\n" }
        let delay = response.responseTime - response.requestTime
        if delay > 0 { lines += "\(Line.delay): \(delay)\n" }
        for name in Variance.names(response.fields[values: .vary]) {
            guard let name = HTTPField.Name(name) else { continue }
            for value in asked[values: name] { lines += "\(Line.asked)\(name.canonicalName): \(value)\n" }
        }
        return EntryMetadata(
            key: key, mediaType: mediaType, width: width, height: height, storedAt: response.responseTime,
            freshUntil: response.knownFreshUntil, fields: lines)
    }

    /// The entry's metadata once a 304, or the answer to a HEAD, has renewed the response.
    func metadata(renewedAs response: StoredResponse) -> EntryMetadata {
        let old = entry.metadata
        return Self.metadata(
            of: response, asked: asked, key: key, mediaType: old.mediaType, width: old.width, height: old.height)
    }

    /// The entry's metadata once it may not be used before it has been validated. - Parameter now: milliseconds since 1970.
    func metadata(invalidAt now: Int64) -> EntryMetadata {
        var metadata = entry.metadata
        metadata.storedAt = entry.validatedAt
        metadata.freshUntil = min(metadata.freshUntil ?? now, now)
        if !isInvalid { metadata.fields += "\(Line.invalid): \(now)\n" }
        return metadata
    }

    // MARK: Choosing

    /// Whether it answers a request with these fields, as far as `Vary` goes (RFC 9111 §4.1).
    func matches(_ fields: HTTPFields) -> Bool {
        Variance.matches(response.fields[values: .vary], stored: asked, asked: fields)
    }

    /// Of those that match the most recent counts (RFC 9111 §4).
    static func select(_ held: [HeldResponse], for fields: HTTPFields) -> HeldResponse? {
        held.filter { $0.matches(fields) }
            .max { ($0.response.date, $0.response.responseTime) < ($1.response.date, $1.response.responseTime) }
    }

    func reuse(at now: Int64, request: CacheDirectives) -> Reuse {
        isInvalid ? .afterValidation(ifError: false) : response.reuse(at: now, request: request)
    }
}

extension CachedEntry {
    /// Whether its key is a URL; else it is a response that only a mirror has a use for.
    var isCover: Bool { metadata.key.utf8.starts(with: "http".utf8) }
}
