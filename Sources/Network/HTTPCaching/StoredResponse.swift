package import HTTPTypes

/// A response as a cache stores it (RFC 9111 section 3).
package struct StoredResponse: Sendable, Hashable {
    package let status: Int
    package let fields: HTTPFields
    /// When the request was sent, in milliseconds since 1970.
    package let requestTime: Int64
    /// When the response arrived, in milliseconds since 1970.
    package let responseTime: Int64
    /// The redirects that led to it.
    package let redirects: RedirectChain

    package init(
        status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64,
        redirects: RedirectChain = RedirectChain()
    ) {
        self.status = status
        self.fields = fields
        self.redirects = redirects
        self.requestTime = min(max(requestTime, 0), Self.latestTime)
        self.responseTime = min(max(responseTime, 0), Self.latestTime)
    }

    /// The year 10,000: what a damaged index holds does not overflow the arithmetic of times.
    private static let latestTime: Int64 = 253_402_300_800_000

    /// Computed at each call, as most responses are examined once.
    package var freshness: Freshness { Freshness(self) }

    /// Statuses that are cacheable without an explicit lifetime (RFC 9110 section 15.1).
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The final statuses that RFC 9110 section 15 defines.
    private static let understood = Set(200...206).union(300...308).union(400...417).union([421, 422, 426]).union(
        500...505)

    /// Whether `no-store` holds: `must-understand` overrides it if the status is understood (section 5.2.2.3).
    func forbidsStoring(_ directives: CacheDirectives) -> Bool {
        directives.noStore && !(directives.mustUnderstand && Self.understood.contains(status))
    }

    /// Whether a private cache may store the response (section 3). `no-store` of a redirect is about the redirect (section 5.2.2.5): its target's
    /// response is stored, and answers the first URL only after that was asked again (`Freshness.needsValidation`).
    package var isStorable: Bool {
        let directives = CacheDirectives(fields)
        if forbidsStoring(directives) { return false }
        guard (200...599).contains(status), status != 206, status != 304 else { return false }
        return directives.isPublic || directives.isPrivate || directives.maxAge != nil || fields.contains(.expires)
            || Self.heuristicallyCacheable.contains(status)
    }

    /// Not stored: fields that hold for one exchange only, and the type, which an entry stores apart.
    private static let dropped: [HTTPField.Name] = [.contentType, .retryAfter]

    /// The fields that an entry stores, as field lines.
    package var keptFields: String {
        var text = ""
        for field in fields where !Self.dropped.contains(field.name) {
            text.append(fieldLine: field)
        }
        return text
    }
}

extension StoredResponse {
    /// Whether the response may be used although it is not fresh, without asking its server first (RFC 9111 section 4.2.4; RFC 5861
    /// sections 3 and 4). Without a directive there is no limit.
    /// - Parameter now: milliseconds since 1970.
    package func mayBeStale(at now: Int64) -> Bool {
        let freshness = freshness, all = [freshness.directives, redirects.directives]
        // These forbid stale responses whatever else is sent (sections 5.2.2.2 and 5.2.2.4).
        if freshness.needsValidation || all.contains(where: \.mustRevalidate) { return false }
        guard let limit = all.compactMap(\.staleLimit).min() else { return true }
        return now - freshness.freshUntil <= limit * 1_000
    }
}

/// Validation of stored responses (RFC 9111 section 4.3).
extension StoredResponse {
    /// The fields of a conditional request (section 4.3.1): both validators, to the byte as received. Empty without a validator.
    package var conditions: HTTPFields {
        var conditions = HTTPFields()
        for (name, newName) in [(HTTPField.Name.eTag, HTTPField.Name.ifNoneMatch), (.lastModified, .ifModifiedSince)] {
            // A response has one line of each at most, whose value may contain bytes that are no UTF-8 (RFC 9110 section 5.5).
            guard let field = fields[fields: name].first else { continue }
            conditions.append(field.withUnsafeBytesOfValue { HTTPField(name: newName, value: $0) })
        }
        return conditions
    }

    /// The stored response with the fields and the redirects of a 304 (sections 3.2 and 4.3.4). Nil if the 304 is about another response.
    package func updated(by update: StoredResponse) -> StoredResponse? {
        let notModified = update.fields
        guard Self.is(notModified, about: fields.text(.eTag)) else { return nil }
        var merged = HTTPFields()
        // A 304 without `Age` or `Date` was generated now: the stored values no longer hold.
        for field in fields where field.name != .age && field.name != .date {
            let isReplaced =
                notModified.contains { $0.name == field.name } && !Self.keptFromUpdates.contains(field.name)
            if !isReplaced { merged.append(field) }
        }
        for field in notModified where !Self.keptFromUpdates.contains(field.name) { merged.append(field) }
        return StoredResponse(
            status: status, fields: merged, requestTime: update.requestTime, responseTime: update.responseTime,
            redirects: update.redirects)
    }

    /// Whether a 304 is about the response with this entity tag: one with another strong tag is not (section 4.3.4).
    package static func `is`(_ notModified: HTTPFields, about tag: String?) -> Bool {
        guard let newTag = notModified.text(.eTag), !newTag.hasPrefix("W/"), let tag else { return true }
        return (tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) == newTag
    }

    /// Fields that describe the stored body or the connection (sections 3.1 and 3.2).
    private static let keptFromUpdates: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentType, .contentRange, .connection, .transferEncoding, .trailer,
        .upgrade, .te, .proxyAuthenticate, .proxyAuthorization, .init("Proxy-Connection")!, .init("Keep-Alive")!,
        .init("Proxy-Authentication-Info")!,
    ]
}

extension HTTPFields {
    /// The value of a field, joined from several lines. Faster than the subscript for the usual single line.
    package func text(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            if found != nil { return self[name] }
            found = field.value
        }
        return found
    }
}

/// The entity tags of `If-None-Match`, compared weakly (RFC 9110 sections 8.8.3.2 and 13.1.2).
package struct EntityTags {
    private var opaque: Set<Substring> = []
    private var isAny = false

    /// - Parameter values: of each line of the field.
    package init(_ values: [String]) {
        for value in values {
            var rest = value[...]
            while true {
                rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
                if rest.isEmpty { break }
                rest = Self.opaque(rest)
                // A quoted tag may contain commas.
                let end =
                    rest.first == "\""
                    ? rest.dropFirst().firstIndex(of: "\"").map { rest.index(after: $0) } : rest.firstIndex(of: ",")
                var tag = rest[..<(end ?? rest.endIndex)]
                rest = rest[tag.endIndex...]
                while tag.last == " " || tag.last == "\t" { tag.removeLast() }
                if tag == "*" { isAny = true } else { opaque.insert(tag) }
            }
        }
    }

    package func contains(_ tag: String) -> Bool { isAny || opaque.contains(Self.opaque(tag[...])) }

    /// The tag without the mark of a weak one.
    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") || tag.hasPrefix("w/") ? tag.dropFirst(2) : tag
    }
}
