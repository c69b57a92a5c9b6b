package import HTTPTypes

/// Validation of stored responses (RFC 9111 section 4.3).
extension StoredResponse {
    /// The fields of a conditional request (section 4.3.1): both validators, to the byte as received. Empty without a validator.
    package var conditions: HTTPFields {
        var conditions = HTTPFields()
        if let tag = fields.joined(.eTag, as: .ifNoneMatch) { conditions.append(tag) }
        if let date = fields.joined(.lastModified, as: .ifModifiedSince) { conditions.append(date) }
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
    /// The value of a field under another name, to the byte: a value may contain bytes that are no UTF-8 (RFC 9110 section 5.5).
    fileprivate func joined(_ name: HTTPField.Name, as newName: HTTPField.Name) -> HTTPField? {
        let lines = self[fields: name]
        guard let first = lines.first else { return nil }
        let rest = lines.dropFirst()
        return first.withUnsafeBytesOfValue { value in
            rest.isEmpty
                ? HTTPField(name: newName, value: value)
                : HTTPField(
                    name: newName,
                    value: rest.reduce(into: Array(value)) { bytes, line in
                        line.withUnsafeBytesOfValue { bytes += Array(", ".utf8) + $0 }
                    })
        }
    }

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
