package import HTTPTypes

/// Asking whether a stored response still stands (RFC 9111 §4.3).
extension StoredResponse {
    /// The fields of a conditional request (§4.3.1): both validators, to the byte as they came. Empty: it has none.
    package var conditions: HTTPFields {
        Self.conditions(tag: fields[.eTag], modified: fields[.lastModified])
    }

    package static func conditions(tag: String?, modified: String?) -> HTTPFields {
        switch (tag, modified) {
        case (let tag?, let modified?): [.ifNoneMatch: tag, .ifModifiedSince: modified]
        case (let tag?, nil): [.ifNoneMatch: tag]
        case (nil, let modified?): [.ifModifiedSince: modified]
        case (nil, nil): [:]
        }
    }

    /// The validator for `If-Range` (RFC 9110 §13.1.5): a strong entity tag. Nil: a part cannot be told to belong to the
    /// same whole, so everything has to come again.
    package var strongTag: String? { fields[.eTag].flatMap { $0.hasPrefix("\"") && $0.count > 1 ? $0 : nil } }

    /// The fields of a request for the rest of a body of which so many bytes are there (RFC 9110 §14.2, §13.1.5); nil: it
    /// cannot be told whether the rest would belong to it.
    package func rest(after count: Int) -> HTTPFields? {
        guard let strongTag, fields[.acceptRanges]?.lowercased() != "none" else { return nil }
        return [.range: "bytes=\(count)-", .ifRange: strongTag]
    }

    /// The response that a 304 leaves in its place (§4.3.4, §3.2); nil when the 304 is about another one, which its strong
    /// entity tag tells: nothing may be made of it then.
    /// - Parameter notModified: the 304's fields.
    package func updated(by notModified: HTTPFields, requestTime: Int64, responseTime: Int64) -> StoredResponse? {
        guard Self.is(notModified, about: fields[.eTag]) else { return nil }
        var merged = fields
        for name in Set(notModified.map(\.name)) where !Self.keptFromUpdates.contains(name) {
            merged[values: name] = notModified[values: name]
        }
        // A 304 that says nothing of its age is as new as it looks; one that lay in another cache has its own `Age`.
        if !notModified.contains(.age) { merged[.age] = nil }
        if !notModified.contains(.date) { merged[.date] = nil }
        return StoredResponse(status: status, fields: merged, requestTime: requestTime, responseTime: responseTime)
    }

    /// Whether a 304 is about the response with this entity tag (§4.3.4): one with another strong tag is not.
    package static func `is`(_ notModified: HTTPFields, about tag: String?) -> Bool {
        guard let told = notModified.text(.eTag), !told.hasPrefix("W/"), let tag else { return true }
        return opaque(tag) == told
    }

    /// What describes the stored body, or the connection alone (§3.1, §3.2).
    private static let keptFromUpdates: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentType, .contentRange, .connection, .transferEncoding, .trailer,
        .upgrade,
        .te, .proxyAuthenticate, .proxyAuthorization, .init("Proxy-Connection")!, .init("Keep-Alive")!,
        .init("Proxy-Authentication-Info")!,
    ]

    private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
}

extension HTTPFields {
    /// As the subscript, which takes its time to join what is nearly always one field.
    package func text(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            if found != nil { return self[name] }
            found = field.value
        }
        return found
    }
}

/// Which requests a response answers besides its own (RFC 9111 §4.1).
package enum Variance {
    /// Whether a stored response with this `Vary` answers a request, whose fields are given as they were then and are now.
    /// `*` answers none. Values match when they are the same but for white space and how they are split into lines.
    package static func matches(_ vary: [String], stored: HTTPFields, asked: HTTPFields) -> Bool {
        for name in names(vary) {
            guard name != "*", let name = HTTPField.Name(name) else { return false }
            if normalised(stored[values: name], name) != normalised(asked[values: name], name) { return false }
        }
        return true
    }

    /// The fields that `Vary` names, in lower case.
    package static func names(_ vary: [String]) -> [String] {
        vary.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Language tags, codings and character sets are the same in any case (RFC 9110 §8.3.2, §8.4.1, §8.5.1).
    private static let caseless: Set<HTTPField.Name> = [
        .acceptLanguage, .acceptEncoding, HTTPField.Name("Accept-Charset")!,
    ]

    private static func normalised(_ values: [String], _ name: HTTPField.Name) -> [String] {
        values.map { caseless.contains(name) ? $0.lowercased() : $0 }.flatMap { $0.split(separator: ",") }
            .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ") }
            .filter { !$0.isEmpty }
    }
}
