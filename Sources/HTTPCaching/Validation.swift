package import HTTPTypes

/// Validation of stored responses (RFC 9111 section 4.3).
extension StoredResponse {
    /// The fields of a conditional request (section 4.3.1): both validators, to the byte as received. Empty without a validator.
    package var conditions: HTTPFields {
        var conditions = HTTPFields()
        if let tag = fields.text(.eTag) { conditions.append(HTTPField(name: .ifNoneMatch, value: tag)) }
        if let date = fields.text(.lastModified) { conditions.append(HTTPField(name: .ifModifiedSince, value: date)) }
        return conditions
    }

    /// The strong entity tag, the only validator that `If-Range` takes here (RFC 9110 section 13.1.5).
    var strongTag: String? { fields[.eTag].flatMap { $0.hasPrefix("\"") && $0.count > 1 ? $0 : nil } }

    /// The fields of a request for the rest of a partially received body (RFC 9110 sections 13.1.5 and 14.2). Nil if the server
    /// takes no ranges, or without a strong entity tag, which shows that the rest belongs to the same body.
    /// - Parameter count: bytes that were received.
    package func rest(after count: Int) -> HTTPFields? {
        guard let strongTag, fields[.acceptRanges]?.lowercased() != "none" else { return nil }
        return [.range: "bytes=\(count)-", .ifRange: strongTag]
    }

    /// The stored response with the fields of a 304 (sections 3.2 and 4.3.4). Nil if the 304 is about another response.
    package func updated(by notModified: HTTPFields, requestTime: Int64, responseTime: Int64) -> StoredResponse? {
        guard Self.is(notModified, about: fields.text(.eTag)) else { return nil }
        var merged = HTTPFields()
        // A 304 without `Age` or `Date` was generated now: the stored values no longer hold.
        for field in fields where field.name != .age && field.name != .date {
            let isReplaced =
                notModified.contains { $0.name == field.name } && !Self.keptFromUpdates.contains(field.name)
            if !isReplaced { merged.append(field) }
        }
        for field in notModified where !Self.keptFromUpdates.contains(field.name) { merged.append(field) }
        return StoredResponse(status: status, fields: merged, requestTime: requestTime, responseTime: responseTime)
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
