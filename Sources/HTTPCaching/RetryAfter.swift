package import HTTPTypes

/// `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The delay a response asks for, from now; at most a year. Nil if the field is missing or invalid.
    /// - Parameter now: seconds since 1970.
    package static func delay(_ fields: HTTPFields, now: Int64) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? nil : .seconds(min(seconds, 86_400 * 365)) }
        return HTTPDate.seconds(text, now: now).map { .seconds(max(0, $0 - now)) }
    }
}
